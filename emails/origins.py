"""Whom an account's messages come from: its own address where it may send as that, else the installation's."""

from datetime import datetime

from django.conf import settings as django_settings

from accounts.models import Account
from emails.mail_settings import MailSettings
from emails.messages import Origin
from emails.sender_domains.operations import may_send_as


def origin_of(account: Account, settings: MailSettings, *, now: datetime) -> Origin:
    """One statement more for an account whose address has to be verified."""
    own, name = account.email_from, _line(account.name)
    if not own:
        return Origin(name=name, email=django_settings.DEFAULT_FROM_EMAIL, reply_to=settings.reply_to)
    if settings.may_send_as_anybody or may_send_as(own, now=now):
        return Origin(name=name, email=own, reply_to=settings.reply_to)
    return Origin(
        # Many mail programs show the name alone, and this one may look like somebody else's address.
        name=_line(name.replace("@", " ")),
        email=django_settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.reply_to or own,
    )


def _line(text: str) -> str:
    """In one line, without what can't be seen, such as a change of the writing's direction."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
