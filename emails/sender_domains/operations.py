"""Verifies sender domains: an account that has set a DNS record may send from the domain through our provider.

Each account has its own token for a domain, so one account's record doesn't verify another's. The token is derived from
both and stored at the first lookup. It is no secret: only the domain's owner can publish it. A parent domain doesn't
verify its subdomains. A verified domain is looked up again while it is used, and loses its verification once the
record has been missing for `GRACE`.
"""

import hashlib
from datetime import datetime, timedelta

from django.utils.encoding import punycode

from accounts.queries import current_account
from commerce.outbox.operations import enqueue
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import ScopeOpener, current_account_id
from commerce.waiting import Call, waiting_call
from emails.errors import EmailFromMissing

from .models import SenderDomain
from .records import DnsUnavailable, look_up_txt

# A little more than one look-up may take.
WITHIN_S = 6
CHECK_EVERY = timedelta(days=1)
# A domain that wasn't looked up for this long, as nothing was sent, must be looked up before it is trusted again.
TRUSTED_FOR = timedelta(days=30)
# A record may be missing for a while by mistake, such as when a domain moves to other name servers.
GRACE = timedelta(days=3)


def read_domain(email: str) -> str | None:
    """The domain of an address in its DNS form; None for an invalid one."""
    try:
        return punycode(email.rpartition("@")[2]).lower() or None
    except UnicodeError:
        return None


def get_wanted_domain() -> SenderDomain:
    """The domain of the account's `email_from`, unsaved if new. Raises `EmailFromMissing`."""
    account = current_account()
    domain = read_domain(account.email_from or "")
    if domain is None:
        raise EmailFromMissing
    # The workspace's id is random, so tokens differ between installations whose accounts have equal ids. Derived instead
    # of random, so that a GET can show it before anything is stored.
    owner = f"{account.workspace_id}/{account.pk}/{domain}"
    token = hashlib.sha256(owner.encode()).hexdigest()[:32]
    return SenderDomain.objects.filter(domain=domain).first() or SenderDomain(domain=domain, token=token)


def save_wanted_domain() -> SenderDomain:
    """The domain of the account's `email_from`, saved. Raises `EmailFromMissing`."""
    wanted = get_wanted_domain()
    if wanted.pk is not None:
        return wanted
    # Another request may have saved it since it was read.
    row, _ = SenderDomain.objects.get_or_create(domain=wanted.domain, defaults={"token": wanted.token})
    return row


def verify_domain(*, scope: ScopeOpener, now: datetime) -> SenderDomain:
    """Look up the record of the account's domain while a client waits. Called outside of any scope.

    Raises `EmailFromMissing`, `TooManyOutsideCalls`.
    """
    with scope():
        row, account_id = save_wanted_domain(), current_account_id()
    with waiting_call(Call.LOOKUP, account_id, within_s=WITHIN_S):
        failure = look_up_record(row)
    with scope():
        return note_lookup(row.pk, failure, now=now)


def look_up_record(row: SenderDomain) -> str:
    """The failure code of a lookup, empty if the record was found. No transaction may be open."""
    try:
        is_there = row.record_value in look_up_txt(row.record_name)
    except DnsUnavailable:
        return SenderDomain.Failure.DNS_UNAVAILABLE
    return "" if is_there else SenderDomain.Failure.RECORD_NOT_FOUND


def note_lookup(domain_id: int, failure: str, *, now: datetime) -> SenderDomain:
    # Locked, as a request and a task may look the record up at the same time, and the result depends on the last one.
    row = lock(SenderDomain.objects.all()).get(pk=domain_id)
    row.failure_code = failure
    # Without an answer nothing is known: neither the verification nor the grace period changes.
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
    # No look-up here: a scope is open, so a transaction would wait for name servers.
    domain = read_domain(email)
    row = SenderDomain.objects.filter(domain=domain, verified_at__isnull=False).first() if domain else None
    if row is None:
        return False
    if row.is_due(now, after=CHECK_EVERY.total_seconds()):
        enqueue(
            task_name="check_sender_domain",
            payload={"domain_id": row.pk},
            # One for all messages of the day, also those sent at once.
            idempotency_key=f"sender_domain/{row.pk}/{now:%Y-%m-%d}",
            now=now,
        )
    return not row.is_due(now, after=TRUSTED_FOR.total_seconds())
