from .accounts import archive_account, create_account, set_suspended, update_account
from .keys import OPERATOR, OWNER, IssuedKey, Issuer, issue_key, revoke_key, rotate_key
from .markets import create_market, deactivate_market, update_market
from .staff import (
    accept_invitation,
    add_member,
    change_role,
    decline_invitation,
    invite_member,
    remove_member,
    withdraw_invitation,
)
from .workspaces import bootstrap_workspace

__all__ = [
    "OPERATOR",
    "OWNER",
    "IssuedKey",
    "Issuer",
    "accept_invitation",
    "add_member",
    "archive_account",
    "bootstrap_workspace",
    "change_role",
    "create_account",
    "create_market",
    "deactivate_market",
    "decline_invitation",
    "invite_member",
    "issue_key",
    "remove_member",
    "revoke_key",
    "rotate_key",
    "set_suspended",
    "update_account",
    "update_market",
    "withdraw_invitation",
]
