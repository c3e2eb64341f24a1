"""The ways to send a message: files, SMTP servers and HTTP services."""

import os
import threading
from functools import lru_cache

from django.conf import settings

from emails.mail_settings import MailSettings

from .base import MessageRefused, OutcomeUnknown, Provider, ProviderBusy, ProviderDown, ProviderUnavailable
from .local import LocalProvider

__all__ = [
    "MessageRefused",
    "OutcomeUnknown",
    "Provider",
    "ProviderBusy",
    "ProviderDown",
    "ProviderUnavailable",
    "provider_of",
]


def provider_of(mail_settings: MailSettings) -> Provider:
    return _provider_of(mail_settings, os.getpid(), threading.get_ident())


@lru_cache(maxsize=256)
def _provider_of(mail_settings: MailSettings, _process_id: int, _thread_id: int) -> Provider:
    """One per process and thread, as a session can't be shared but is worth reusing."""
    # Imported here as both load slowly, and an installation mostly uses one.
    if mail_settings.provider == "smtp":
        from .smtp import SmtpProvider

        return SmtpProvider(mail_settings)
    if mail_settings.provider != "local":
        from .services import ServiceProvider

        return ServiceProvider(mail_settings)
    return LocalProvider(settings.MAIL_DIR)
