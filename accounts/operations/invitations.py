"""Invitations to the staff of the account in scope, sent by email.

The link in the email has a token, of which only the SHA-256 is stored. Whoever opens it joins with the log-in that they
have, or chooses one. Nobody learns whether an address has a log-in: everybody is sent the same email, and what happens
after it is between its recipient and us.
"""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language

from accounts.models import StaffInvitation, StaffMembership, User
from accounts.operations.roles import Grantor, require_power_over
from accounts.rules import INVITATION
from commerce.attempts import Counter, Limit, begin_attempt
from commerce.errors import RateLimited
from commerce.outbox.operations import enqueue
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import current_account_id

SEND_INVITATION = "send_staff_invitation"
LIFETIME = timedelta(days=7)
# Limits, since each invitation is an email to an address that somebody has typed.
_PER_ACCOUNT = Limit(100, 24 * 3600)
_PER_ADDRESS = Limit(5, 3600)


@dataclass(frozen=True, slots=True)
class FoundInvitation:
    """What the page behind a link shows and needs."""

    account_id: int
    invitation_id: int
    shop_name: str
    role: str
    own_role_name: str | None


def invite_member(*, grantor: Grantor, email: str, role: str, now: datetime) -> StaffInvitation:
    """Invite by email.

    Raises `ValidationFailed`, `AlreadyInvited` through the unique key, `InsufficientScope` for a role that may do more
    than the grantor, and `RateLimited`.
    """
    email = INVITATION.check({"email": email})["email"]
    require_power_over(grantor, role)
    _count_sending(email)
    invitation = StaffInvitation.objects.create(
        email=email, role=role, invited_by=grantor.name, expires_at=now + LIFETIME
    )
    _send(invitation, now=now)
    return invitation


def resend_invitation(*, invitation_id: int, now: datetime) -> StaffInvitation:
    """Send an invitation again, with a new link; the earlier one ends. Raises `NotFound` and `RateLimited`."""
    invitation = get_or_not_found(lock(StaffInvitation.objects.all()), pk=invitation_id)
    _count_sending(invitation.email or "")
    invitation.sendings += 1
    invitation.expires_at = now + LIFETIME
    _send(invitation, now=now)
    return invitation


def withdraw_invitation(*, invitation_id: int) -> None:
    """Withdraw an invitation: its link ends. Repeated, nothing changes."""
    StaffInvitation.objects.filter(pk=invitation_id).delete()


def find_invitation(token: str) -> FoundInvitation | None:
    """Find the invitation of any shop by the token of its link. Call it outside of any scope."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT account_id, invitation_id, shop_name, role, own_role_name FROM find_invitation(%s)",
            [hash_token(token)],
        )
        row = cursor.fetchone()
    return None if row is None else FoundInvitation(*row)


def accept_invitation(*, token: str, user: User, now: datetime) -> StaffMembership:
    """Make the user a member of the account in scope. An existing member keeps the role.

    Raises `NotFound` if the invitation has been accepted, declined or withdrawn, has expired, or got a new link.
    """
    # Locked, so that of two people with the link only one joins, and nobody after it was withdrawn.
    invitations = lock(StaffInvitation.objects.all(), keys_too=True)
    invitation = get_or_not_found(invitations, token_hash=hash_token(token), expires_at__gt=now)
    invitation.delete()
    membership, _ = StaffMembership.objects.get_or_create(
        account_id=current_account_id(), user_id=user.pk, defaults={"role": invitation.role}
    )
    return membership


def decline_invitation(*, token: str) -> None:
    """Decline an invitation to the account in scope. Repeated, nothing changes."""
    StaffInvitation.objects.filter(token_hash=hash_token(token)).delete()


def make_token(invitation: StaffInvitation) -> str:
    """Make the token of the link that was sent last: derived from the secret key, so that it need not be stored."""
    value = f"{invitation.account_id}:{invitation.pk}:{invitation.sendings}"
    digest = salted_hmac("accounts.invitation", value, algorithm="sha256").digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _send(invitation: StaffInvitation, *, now: datetime) -> None:
    invitation.token_hash = hash_token(make_token(invitation))
    invitation.save(update_fields=["token_hash", "sendings", "expires_at"])
    enqueue(
        task_name=SEND_INVITATION,
        payload={
            "invitation_id": invitation.pk,
            "sending": invitation.sendings,
            # That of the person who invites: nobody knows the other's.
            "language": get_language() or "en",
        },
        idempotency_key=f"{SEND_INVITATION}/{invitation.pk}/{invitation.sendings}",
        now=now,
    )


def _count_sending(email: str) -> None:
    """Raise `RateLimited` if the shop has sent too many, or too many to this address."""
    account_id = current_account_id()
    address = hashlib.sha256(email.lower().encode()).hexdigest()
    counters = [
        Counter(f"invitations:{account_id}", _PER_ACCOUNT),
        Counter(f"invitations:{account_id}:{address}", _PER_ADDRESS),
    ]
    wait_s = begin_attempt(counters)
    if wait_s:
        raise RateLimited(wait_s)
