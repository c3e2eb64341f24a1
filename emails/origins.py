"""The sender of an account's messages: its own address if it may use it, else the installation's."""

from datetime import datetime
from unicodedata import normalize

from django.conf import settings as django_settings

from accounts.models import Account
from emails.mail_settings import MailSettings
from emails.messages import Origin
from emails.sender_domains.operations import may_send_as


def origin_of(account: Account, settings: MailSettings, *, now: datetime) -> Origin:
    """Takes one more statement for an account whose address must be verified."""
    own = account.email_from
    if own and (settings.may_send_as_anybody or may_send_as(own, now=now)):
        return Origin(name=_to_line(account.name), email=own, reply_to=settings.reply_to)
    return Origin(
        name=_disarm_name(account.name),
        email=django_settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.reply_to or own or "",
    )


def _disarm_name(text: str) -> str:
    """Make a name that can't pass as an address: many mail programs show only the name.

    It can't be an encoded word (RFC 2047) either, which could hold any character.
    """
    without_at = "".join(" " if "@" in normalize("NFKC", c) else c for c in _to_line(text))
    return _to_line(without_at.replace("=?", "= ?"))


def _to_line(text: str) -> str:
    """On one line, without invisible characters such as bidirectional overrides."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
