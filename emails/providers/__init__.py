"""The ways to send a message: files, SMTP servers and HTTP services."""

from django.conf import settings

from commerce.configuration.registry import installation_value
from commerce.outside.per_thread import keep_per_thread
from emails.mail_settings import MailSettings

from .base import (
    HONOURING_KEYS,
    MessageRefused,
    OutcomeUnknown,
    Provider,
    ProviderBusy,
    ProviderDown,
    ProviderUnavailable,
)
from .local import LocalProvider

__all__ = [
    "HONOURING_KEYS",
    "MessageRefused",
    "OutcomeUnknown",
    "Provider",
    "ProviderBusy",
    "ProviderDown",
    "ProviderUnavailable",
    "get_provider",
]


@keep_per_thread(maxsize=256)
def get_provider(mail_settings: MailSettings) -> Provider:
    """The provider for these settings, kept for the thread: a session with an HTTP service can't be shared.

    Raises `ProviderUnavailable`.
    """
    # Imported here as both load slowly, and an installation mostly uses one.
    if mail_settings.provider == "smtp":
        from .smtp import SmtpProvider

        return SmtpProvider(mail_settings)
    if mail_settings.provider != "local":
        from .services import ServiceProvider

        return ServiceProvider(mail_settings)
    # Accounts may have chosen it before this was checked. Their mail must neither fill our disk nor seem to be sent.
    if installation_value("commerce.email.provider") != "local":
        raise ProviderUnavailable("commerce.email.provider is local, which this installation doesn't offer.")
    return LocalProvider(settings.MAIL_DIR)
