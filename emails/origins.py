"""The sender of an account's messages: its own address if it may use it, else the installation's."""

from datetime import datetime
from unicodedata import normalize

from django.conf import settings as django_settings

from accounts.models import Account
from emails.mail_settings import MailSettings
from emails.messages import Origin
from emails.sender_domains.operations import may_send_as


def choose_origin(account: Account, settings: MailSettings, *, now: datetime) -> Origin:
    """Choose the sender that recipients see. Takes one more statement for an account whose address must be verified."""
    own = account.email_from
    if own and (settings.may_send_as_anybody or may_send_as(own, now=now)):
        return Origin(name=to_line(account.name), email=own, reply_to=settings.reply_to)
    # The platform's address: the account's name must not suggest another one, as many mail programs show only the name.
    # Nor may it be an encoded word (RFC 2047), which could hold any character. NFKC finds look-alikes of the @.
    without_at = "".join(" " if "@" in normalize("NFKC", c) else c for c in to_line(account.name))
    return Origin(
        name=to_line(without_at.replace("=?", "= ?")),
        email=django_settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.reply_to or own or "",
    )


def to_line(text: str) -> str:
    """Put a text on one line, without invisible characters such as bidirectional overrides."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
