from .accounts import archive_account, create_account, set_suspended, update_account
from .keys import IssuedKey, issue_key, revoke_key, rotate_key
from .markets import create_market, deactivate_market, update_market
from .workspaces import bootstrap_workspace

__all__ = [
    "IssuedKey",
    "archive_account",
    "bootstrap_workspace",
    "create_account",
    "create_market",
    "deactivate_market",
    "issue_key",
    "revoke_key",
    "rotate_key",
    "set_suspended",
    "update_account",
    "update_market",
]
