"""Any mail server. SMTP has no idempotency keys: if the answer is lost, the message is sent again."""

import smtplib
from collections.abc import Iterator
from contextlib import contextmanager

from commerce.outside.addresses import AddressRefused
from commerce.outside.deadline import Deadline, deadline
from emails.mail_settings import MailSettings
from emails.messages import Message

from .base import MessageRefused, OutcomeUnknown, ProviderDown, ProviderUnavailable
from .bounded_smtp import BoundedBackend
from .mime import MimeMail, build_mime, hash_key

# For connecting and for each read.
_TIMEOUT_S = 15
# For the whole session, however often the server sends a byte.
TOTAL_TIMEOUT_S = 20


class SmtpProvider:
    """Opens a connection for each message, as servers close idle ones."""

    name = "smtp"

    def __init__(self, settings: MailSettings) -> None:
        self.settings = settings

    def send(self, message: Message, *, idempotency_key: str) -> str:
        domain = message.from_email.rpartition("@")[2]
        # The same for every attempt, so that mailboxes can drop a repetition.
        message_id = f"<{hash_key(idempotency_key)[:32]}@{domain}>"
        mail = build_mime(message, headers={"Message-ID": message_id})
        with deadline(TOTAL_TIMEOUT_S) as limit, self._open_session(limit) as backend:
            _hand_over(backend, mail)
        return message_id

    @contextmanager
    def _open_session(self, limit: Deadline) -> Iterator[BoundedBackend]:
        if not self.settings.smtp_host:
            raise ProviderUnavailable("No SMTP server is set: commerce.email.smtp_host is empty.")
        backend = BoundedBackend(
            allow_private=self.settings.allow_private,
            must_not_reach=self.settings.must_not_reach,
            host=self.settings.smtp_host,
            port=self.settings.smtp_port,
            username=self.settings.smtp_username,
            password=self.settings.smtp_password,
            use_tls=self.settings.smtp_security == "starttls",
            use_ssl=self.settings.smtp_security == "tls",
            timeout=_TIMEOUT_S,
        )
        try:
            _connect(backend, limit)
            yield backend
        finally:
            backend.close()


def _connect(backend: BoundedBackend, limit: Deadline) -> None:
    """Connect, greet, encrypt and log in. A failure here means that nothing was sent."""
    try:
        backend.open()
        backend.greet()
    except (OSError, AddressRefused, ValueError) as error:
        has_answered = isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPNotSupportedError)
        # An answer that was cut off by the time limit means nothing.
        kind = ProviderUnavailable if has_answered and not limit.is_over else ProviderDown
        raise kind(f"The SMTP server can't be used: {error}") from error


def _hand_over(backend: BoundedBackend, mail: MimeMail) -> None:
    try:
        backend.send_messages([mail])
    except smtplib.SMTPRecipientsRefused as error:
        # A message has one recipient.
        code, reason = next(iter(error.recipients.values()))
        raise _translate_reply(code, reason) from error
    except smtplib.SMTPResponseException as error:
        raise _translate_reply(error.smtp_code, error.smtp_error) from error
    except OSError as error:
        # smtplib's own errors are OSErrors too. The message may have been sent before the connection broke.
        raise OutcomeUnknown(f"The SMTP server gave no clear answer: {error}") from error
    except ValueError as error:
        # smtplib refuses a command that can't be sent. It does so before the message.
        raise MessageRefused(f"The message can't be sent: {error}") from error


def _translate_reply(code: int, reason: bytes | str) -> Exception:
    """The error of a message that the server did not accept.

    RFC 5321, section 4.2.1: 4yz is a transient failure, 5yz a permanent one.
    """
    words = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
    kind = MessageRefused if 500 <= code < 600 else ProviderUnavailable
    return kind(f"The SMTP server answered {code}: {words}")
