from . import accounts, keys, markets, staff, users

__all__ = ["accounts", "keys", "markets", "staff", "users"]
