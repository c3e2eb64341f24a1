"""Whom an account's messages come from: its own address where it may send as that, else the installation's."""

from datetime import datetime
from unicodedata import normalize

from django.conf import settings as django_settings

from accounts.models import Account
from emails.mail_settings import MailSettings
from emails.messages import Origin
from emails.sender_domains.operations import may_send_as


def origin_of(account: Account, settings: MailSettings, *, now: datetime) -> Origin:
    """One statement more for an account whose address has to be verified."""
    own = account.email_from
    if own and (settings.may_send_as_anybody or may_send_as(own, now=now)):
        return Origin(name=_line(account.name), email=own, reply_to=settings.reply_to)
    return Origin(
        name=_plain_name(account.name),
        email=django_settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.reply_to or own or "",
    )


def _plain_name(text: str) -> str:
    """A name that is no address: many mail programs show the name alone, and this might be somebody else's.

    Neither may it be an encoded word (RFC 2047), which may hold any character.
    """
    without_at = "".join(" " if "@" in normalize("NFKC", c) else c for c in _line(text))
    return _line(without_at.replace("=?", "= ?"))


def _line(text: str) -> str:
    """In one line, without what can't be seen, such as a change of the writing's direction."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
