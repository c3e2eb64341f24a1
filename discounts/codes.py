"""Gift card codes: 16 symbols that can't be mistaken for one another, typed in any case and with or without hyphens."""

import secrets

# Digits and letters without I, L, O and U: 32 symbols, 80 bits a code.
SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_voucher_code() -> str:
    """A code of the form XXXX-XXXX-XXXX-XXXX."""
    return grouped("".join(secrets.choice(SYMBOLS) for _ in range(16)))


def grouped(symbols: str) -> str:
    return "-".join(symbols[start : start + 4] for start in range(0, len(symbols), 4))
