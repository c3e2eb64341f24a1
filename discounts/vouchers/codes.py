"""Gift card codes: 16 symbols that can't be mistaken for one another, typed in any case and with or without hyphens."""

import secrets

# Digits and letters without I, L, O and U: 32 symbols, 80 bits a code.
SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 16


def new_voucher_code() -> str:
    """A code of the form XXXX-XXXX-XXXX-XXXX."""
    return grouped("".join(secrets.choice(SYMBOLS) for _ in range(_LENGTH)))


def canonical_code(typed: str) -> str | None:
    """A code as it is stored, whatever its case, hyphens and spaces were; None for what can't be one."""
    symbols = typed.upper().replace("-", "").replace(" ", "")
    return grouped(symbols) if len(symbols) == _LENGTH and set(symbols) <= set(SYMBOLS) else None


def grouped(symbols: str) -> str:
    return "-".join(symbols[start : start + 4] for start in range(0, len(symbols), 4))
