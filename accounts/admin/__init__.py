from . import accounts, keys, markets, roles, staff, users

__all__ = ["accounts", "keys", "markets", "roles", "staff", "users"]
