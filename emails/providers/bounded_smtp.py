"""Django's SMTP backend, limited to the current deadline, to short answers, and to permitted addresses."""

import base64
import hmac
import smtplib
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, BinaryIO

from django.core.mail.backends.smtp import EmailBackend

from commerce.outside.addresses import connect
from commerce.outside.deadline import cover, deadline

from .relay import refuse_relay

# The most a server may say in one session: far more than any greeting and list of extensions.
MAX_ANSWER_BYTES = 64 * 1024
# Short, as the message has been accepted or refused by then.
QUIT_TIMEOUT_S = 2
# Far more than any way to log in needs.
MAX_CHALLENGES = 5


class UnclearReply(smtplib.SMTPException):
    """The server has the message, and its reply is neither acceptance nor refusal."""


class BoundedBackend(EmailBackend):
    """`allow_private`: the server may be in our own network. `must_not_reach`: the server that it must not be."""

    def __init__(self, *, allow_private: bool, must_not_reach: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._allow_private = allow_private
        self._must_not_reach = must_not_reach

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        plain, secure = _build_classes(self._allow_private, self._must_not_reach)
        return secure if self.use_ssl else plain

    def greet(self) -> None:
        # Else smtplib may greet only when it sends, and a failure would look as if the message might have been sent.
        if self.connection is not None:
            self.connection.ehlo_or_helo_if_needed()

    def close(self) -> None:
        # The end of the session doesn't change the result of the message.
        with suppress(OSError):
            super().close()


# smtplib connects in `__init__` and Django names only the class, so the limits are attributes of a class.
@cache
def _build_classes(allow_private: bool, must_not_reach: str) -> tuple[type[smtplib.SMTP], type[smtplib.SMTP]]:
    class Plain(_Smtp):
        reaches_private = allow_private
        avoids = must_not_reach

    class Secure(smtplib.SMTP_SSL, Plain):
        """TLS from the first byte: SMTP_SSL wraps what the next class has connected."""

    return Plain, Secure


class _Smtp(smtplib.SMTP):
    reaches_private: bool
    avoids: str

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connection = connect(host, port, timeout_s=timeout, allow_private=self.reaches_private)
        connection.settimeout(timeout)
        if self.avoids:
            try:
                refuse_relay(connection, self.avoids)
            except BaseException:
                # Nobody else has the connection yet, so nobody else would close it.
                connection.close()
                raise
        return connection

    def getreply(self) -> tuple[int, bytes]:
        # Before smtplib opens a file without a limit, which it also does after STARTTLS.
        if self.file is None and self.sock is not None:
            self.file = _LimitedFile(self.sock.makefile("rb"))
        try:
            return super().getreply()
        except smtplib.SMTPResponseException as error:
            # smtplib reads no further in a line that is too long, and takes it for a refusal by the server.
            raise smtplib.SMTPServerDisconnected("The server's reply is too long.") from error

    def auth(
        self, mechanism: str, authobject: Callable[..., str | None], *, initial_response_ok: bool = True
    ) -> tuple[int, bytes]:
        """Log in with credentials in UTF-8 (RFC 4616). smtplib's own method takes ASCII only."""
        first = authobject() if initial_response_ok else None
        # smtplib's ways to log in read this count.
        self._auth_challenge_count = 0 if first is None else 1
        code, reply = self.docmd("AUTH", mechanism if first is None else f"{mechanism} {_encode(first)}")
        while code == 334:
            self._auth_challenge_count += 1
            try:
                challenge = base64.decodebytes(reply)
            except ValueError as error:
                raise smtplib.SMTPResponseException(code, reply) from error
            if self._auth_challenge_count > MAX_CHALLENGES:
                raise smtplib.SMTPResponseException(code, reply)
            code, reply = self.docmd(_encode(authobject(challenge) or ""))
        if code not in (235, 503):
            raise smtplib.SMTPAuthenticationError(code, reply)
        return code, reply

    def auth_cram_md5(self, challenge: Any = None) -> Any:
        if challenge is None:
            return None
        return f"{self.user} {hmac.new(self.password.encode(), challenge, 'md5').hexdigest()}"

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Send the message. RFC 5321, 4.2.1: the first digit of the reply tells what became of it."""
        code, reply = super().data(msg)
        if not 200 <= code < 600 or 300 <= code < 400:
            raise UnclearReply(f"its reply to the message was {code} {reply.decode(errors='replace')}")
        # smtplib takes any other code than 250 for a refusal.
        return (250 if code < 300 else code), reply

    def quit(self) -> tuple[int, bytes]:
        with deadline(QUIT_TIMEOUT_S):
            if self.sock is not None:
                cover(self.sock)
            return super().quit()


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class _LimitedFile:
    """Limits a server's answers: a reply may have any number of lines, and smtplib keeps them all."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = MAX_ANSWER_BYTES

    def readline(self, size: int) -> bytes:
        line = self._file.readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise OSError("The server's answers are too long.")
        return line

    def close(self) -> None:
        self._file.close()
