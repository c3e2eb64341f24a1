"""Verifies sender domains: an account that has set a DNS record may send from the domain through our provider.

Each account has its own token for a domain, so one account's record doesn't verify another's. The token is derived from
both and stored at the first lookup. It is no secret: only the domain's owner can publish it. A parent domain doesn't
verify its subdomains. A verified domain is looked up again while it is used, and loses its verification once the
record has been missing for `GRACE`.
"""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

from django.utils.encoding import punycode

from accounts.models import Account
from accounts.queries import current_account
from commerce.outbox.operations import enqueue
from commerce.tenancy.scope import current_account_id
from commerce.waiting import Call, waiting_call
from emails.errors import EmailFromMissing

from .models import SenderDomain
from .records import DnsUnavailable, txt_records

Scope = Callable[[], AbstractContextManager[None]]

WITHIN_S = 6
CHECK_EVERY = timedelta(days=1)
# A domain that wasn't looked up for this long, as nothing was sent, must be looked up before it is trusted again.
TRUSTED_FOR = timedelta(days=30)
GRACE = timedelta(days=3)


def domain_of(email: str) -> str | None:
    """The domain of an address in its DNS form; None for an invalid one."""
    try:
        return punycode(email.rpartition("@")[2]).lower() or None
    except UnicodeError:
        return None


def wanted_domain() -> SenderDomain:
    """The domain of the account's `email_from`, unsaved if new. Raises `EmailFromMissing`."""
    account = current_account()
    domain = domain_of(account.email_from or "")
    if domain is None:
        raise EmailFromMissing
    return SenderDomain.objects.filter(domain=domain).first() or SenderDomain(
        domain=domain, token=_derive_token(account, domain)
    )


def kept_domain() -> SenderDomain:
    """The same, saved. Raises `EmailFromMissing`."""
    wanted = wanted_domain()
    if wanted.pk is not None:
        return wanted
    row, _ = SenderDomain.objects.get_or_create(domain=wanted.domain, defaults={"token": wanted.token})
    return row


def _derive_token(account: Account, domain: str) -> str:
    """The random workspace id makes tokens differ between installations with equal account ids."""
    return hashlib.sha256(f"{account.workspace_id}/{account.pk}/{domain}".encode()).hexdigest()[:32]


def verify_domain(*, scope: Scope, now: datetime) -> SenderDomain:
    """Look up the record of the account's domain while a client waits. Called outside of any scope.

    Raises `EmailFromMissing`, `TooManyOutsideCalls`.
    """
    with scope():
        row, account_id = kept_domain(), current_account_id()
    with waiting_call(Call.LOOKUP, account_id, within_s=WITHIN_S):
        failure = look_for(row)
    with scope():
        return note_lookup(row.pk, failure, now=now)


def look_for(row: SenderDomain) -> str:
    """The failure code of a lookup, empty if the record was found. No transaction may be open."""
    try:
        is_there = row.record_value in txt_records(row.record_name)
    except DnsUnavailable:
        return SenderDomain.Failure.DNS_UNAVAILABLE
    return "" if is_there else SenderDomain.Failure.RECORD_NOT_FOUND


def note_lookup(domain_id: int, failure: str, *, now: datetime) -> SenderDomain:
    row = SenderDomain.objects.select_for_update(no_key=True).get(pk=domain_id)
    row.failure_code = failure
    if failure != SenderDomain.Failure.DNS_UNAVAILABLE:
        row.checked_at = now
    if not failure:
        row.verified_at, row.missing_since = row.verified_at or now, None
    elif failure == SenderDomain.Failure.RECORD_NOT_FOUND and row.verified_at is not None:
        row.missing_since = row.missing_since or now
        if now - row.missing_since >= GRACE:
            row.verified_at, row.missing_since = None, None
    row.save(update_fields=["failure_code", "checked_at", "verified_at", "missing_since"])
    return row


def may_send_as(email: str, *, now: datetime) -> bool:
    """Whether the account in scope has verified this address's domain.

    Has the outbox look the record up again, at most once a day.
    """
    domain = domain_of(email)
    row = SenderDomain.objects.filter(domain=domain, verified_at__isnull=False).first() if domain else None
    if row is None:
        return False
    if row.is_due(now, after=CHECK_EVERY.total_seconds()):
        enqueue(
            task_name="check_sender_domain",
            payload={"domain_id": row.pk},
            idempotency_key=f"sender_domain/{row.pk}/{now:%Y-%m-%d}",
            now=now,
        )
    return not row.is_due(now, after=TRUSTED_FOR.total_seconds())
