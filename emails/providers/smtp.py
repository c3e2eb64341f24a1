"""Any mail server. SMTP knows no keys: a message whose acceptance was not heard of goes out once more."""

import smtplib
import socket

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend

from commerce.outside.addresses import AddressRefused, connect
from emails.mail_settings import MailSettings
from emails.messages import Message

from .base import MessageRefused, OutcomeUnknown, ProviderUnavailable
from .mime import digest_of, mail_of

_TIMEOUT_S = 15


class _CheckedSmtp(smtplib.SMTP):
    """Connects to public addresses only: accounts name servers, and must not reach those of our own network."""

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connection = connect(host, port, timeout_s=timeout)
        connection.settimeout(timeout)
        return connection


class _CheckedSmtps(smtplib.SMTP_SSL, _CheckedSmtp):
    """The same with TLS from the first byte: SMTP_SSL puts it around what the next class has connected."""


class _CheckedBackend(EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _CheckedSmtps if self.use_ssl else _CheckedSmtp


class SmtpProvider:
    """Sends over a connection of its own each time, as servers close those that rest."""

    name = "smtp"

    def __init__(self, settings: MailSettings) -> None:
        self.settings = settings

    def send(self, message: Message, *, idempotency_key: str) -> str:
        domain = message.from_email.rpartition("@")[2]
        # The same on every try, so that a mailbox may tell a repetition.
        message_id = f"<{digest_of(idempotency_key)[:32]}@{domain}>"
        mail = mail_of(message, headers={"Message-ID": message_id})
        backend = self._opened()
        try:
            _hand_over(backend, mail)
        finally:
            backend.close()
        return message_id

    def _opened(self) -> EmailBackend:
        if not self.settings.smtp_host:
            raise ProviderUnavailable("No SMTP server is set: commerce.email.smtp_host is empty.")
        kind = EmailBackend if self.settings.allow_private else _CheckedBackend
        backend = kind(
            host=self.settings.smtp_host,
            port=self.settings.smtp_port,
            username=self.settings.smtp_username,
            password=self.settings.smtp_password,
            use_tls=self.settings.smtp_security == "starttls",
            use_ssl=self.settings.smtp_security == "tls",
            timeout=_TIMEOUT_S,
        )
        try:
            backend.open()
        except (OSError, AddressRefused) as error:
            backend.close()
            raise ProviderUnavailable(f"The SMTP server can't be used: {error}") from error
        return backend


def _hand_over(backend: EmailBackend, mail: EmailMultiAlternatives) -> None:
    try:
        backend.send_messages([mail])
    except smtplib.SMTPRecipientsRefused as error:
        code, reason = next(iter(error.recipients.values()))
        raise _answered(code, reason) from error
    except smtplib.SMTPResponseException as error:
        raise _answered(error.smtp_code, error.smtp_error) from error
    except OSError as error:
        raise OutcomeUnknown(f"The SMTP server gave no answer: {error}") from error


def _answered(code: int, reason: bytes | str) -> Exception:
    """RFC 5321, 4.2.1: a reply of 4yz may be another one later, one of 5yz will not."""
    words = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
    kind = MessageRefused if code >= 500 else ProviderUnavailable
    return kind(f"The SMTP server answered {code}: {words}")
