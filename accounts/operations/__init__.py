from .accounts import archive_account, create_account, set_suspended, update_account
from .invitations import (
    accept_invitation,
    decline_invitation,
    invite_member,
    resend_invitation,
    withdraw_invitation,
)
from .keys import OPERATOR, OWNER, IssuedKey, Issuer, issue_key, revoke_key, rotate_key
from .markets import create_market, deactivate_market, update_market
from .roles import UNLIMITED, Grantor, create_role, delete_role, update_role
from .staff import add_member, change_role, end_sessions_of, remove_member, reset_second_step_of
from .workspaces import bootstrap_workspace

__all__ = [
    "OPERATOR",
    "OWNER",
    "UNLIMITED",
    "Grantor",
    "IssuedKey",
    "Issuer",
    "accept_invitation",
    "add_member",
    "archive_account",
    "bootstrap_workspace",
    "change_role",
    "create_account",
    "create_market",
    "create_role",
    "deactivate_market",
    "decline_invitation",
    "delete_role",
    "end_sessions_of",
    "invite_member",
    "issue_key",
    "remove_member",
    "resend_invitation",
    "reset_second_step_of",
    "revoke_key",
    "rotate_key",
    "set_suspended",
    "update_account",
    "update_market",
    "update_role",
    "withdraw_invitation",
]
