"""Gift card codes: 16 unambiguous symbols, accepted in any case and with or without hyphens and spaces."""

import secrets

# Crockford's Base32, without I, L, O and U. 32 symbols make 80 bits per code.
SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 16


def make_voucher_code() -> str:
    """Generate a random code of the form XXXX-XXXX-XXXX-XXXX."""
    return _group_symbols("".join(secrets.choice(SYMBOLS) for _ in range(_LENGTH)))


def parse_voucher_code(typed: str) -> str | None:
    """Convert a typed code to the stored form; None if it can't be a code."""
    symbols = typed.upper().replace("-", "").replace(" ", "")
    return _group_symbols(symbols) if len(symbols) == _LENGTH and set(symbols) <= set(SYMBOLS) else None


def _group_symbols(symbols: str) -> str:
    return "-".join(symbols[start : start + 4] for start in range(0, len(symbols), 4))
