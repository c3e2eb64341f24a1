import asyncio
import contextlib
import socket
import threading
import time
from email import message_from_bytes, policy

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from commerce.outside import addresses
from config.stack.ports import find_free_port
from emails.providers import MessageRefused, OutcomeUnknown, ProviderDown, ProviderUnavailable, get_provider
from tests.emails.providers.test_services import MESSAGE, settings_of
from tests.servers import closed_port, dripping_server, silent_server, talking_server

GREETING = b"220 ready\r\n"
# What a server says before it gets the message.
UP_TO_DATA = (GREETING, b"250 me\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n")
# Far longer than the time limit that these tests set, and far shorter than a dripping server would take.
SOON_S = 20


class Mailbox:
    """Stores the messages that it gets, or answers what a test has set."""

    def __init__(self):
        self.mails = []
        self.to_rcpt = self.to_data = None

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802  aiosmtpd's name
        envelope.rcpt_tos.append(address)
        return self.to_rcpt or "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802  aiosmtpd's name
        if self.to_data == "hang up":
            server.transport.close()
        elif self.to_data:
            return self.to_data
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    right = (LoginPassword(b"hats", b"right"), LoginPassword("hüte".encode(), "pässwörd".encode()))
    is_right = isinstance(data, LoginPassword) and data in right
    return AuthResult(success=is_right, handled=False)


@pytest.fixture
def mailbox():
    return Mailbox()


class Server(Controller):
    """Closes connections that clients have left open: its loop may end before it would do that itself."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._protocols = []

    def factory(self):
        self._protocols.append(super().factory())
        return self._protocols[-1]

    def stop(self, no_assert=False):
        asyncio.run_coroutine_threadsafe(self._close_connections(), self.loop).result(timeout=30)
        super().stop(no_assert)

    async def _close_connections(self):
        for protocol in self._protocols:
            if protocol.transport is not None:
                protocol.transport.close()
        # The loop's next round closes the sockets.
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.fixture
def server(mailbox):
    controller = Server(
        mailbox,
        hostname="127.0.0.1",
        port=find_free_port(),
        authenticator=authenticate,
        auth_require_tls=False,
    )
    controller.start()
    yield controller
    controller.stop()


@pytest.fixture
def send(server):
    def send(key="1:a", message=MESSAGE, **values):
        values = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"} | values
        return get_provider(settings_of("smtp", **values)).send(message, idempotency_key=key)

    return send


def test_message_reaches_the_server_whole(send, mailbox):
    message_id = send(smtp_username="hats", smtp_password="right")

    (mail,) = mailbox.mails
    assert mail["Message-ID"] == message_id
    assert mail["To"] == "ann@example.com"
    assert mail["Reply-To"] == "help@example.com"
    assert mail["Subject"] == "Vaše objednávka 1001"
    assert mail["From"].addresses[0].addr_spec == "hats@example.com"
    assert mail.get_body(("html",)).get_content().strip() == "<p>Děkujeme</p>"


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_credentials_are_sent_in_utf_8(send, server, mailbox, mechanism):
    (excluded,) = {"PLAIN", "LOGIN"} - {mechanism}
    server.SMTP_kwargs["auth_exclude_mechanism"] = [excluded]

    send(smtp_username="hüte", smtp_password="pässwörd")

    assert len(mailbox.mails) == 1


@pytest.mark.parametrize(
    ("mechanism", "reply"),
    [
        ("PLAIN", b"334 a"),
        ("LOGIN", b"334 a"),
        ("CRAM-MD5", b"334 a"),
        ("CRAM-MD5", b"334 YWJj\r\n535 no"),
        ("LOGIN", b"\r\n".join([b"334 YWJj"] * 20)),
    ],
)
def test_failed_log_in_means_that_nothing_was_sent(send, mechanism, reply):
    replies = (GREETING, f"250-me\r\n250 AUTH {mechanism}\r\n".encode(), reply + b"\r\n")
    with talking_server(*replies) as port, pytest.raises(ProviderUnavailable) as raised:
        send(smtp_port=port, smtp_username="hüte", smtp_password="pässwörd")
    assert type(raised.value) is ProviderUnavailable


def test_key_sent_twice_has_the_same_message_id(send):
    assert send() == send() != send("1:b")


@pytest.mark.parametrize(
    ("reply", "error"), [("550 No such user", MessageRefused), ("451 Try later", ProviderUnavailable)]
)
@pytest.mark.parametrize("step", ["to_rcpt", "to_data"])
def test_reply_says_whether_trying_again_makes_sense(send, mailbox, step, reply, error):
    setattr(mailbox, step, reply)

    with pytest.raises(error, match=reply[:3]) as raised:
        send()
    assert not isinstance(raised.value, OutcomeUnknown)
    assert mailbox.mails == []


def test_connection_lost_at_the_end_leaves_the_outcome_unknown(send, mailbox):
    mailbox.to_data = "hang up"

    with pytest.raises(OutcomeUnknown):
        send()


@pytest.mark.parametrize(
    "reply",
    [
        b"\xff garbage",
        b"",
        b"354 more",
        b"999 eh",
        b"-12 eh",
        b"25",
        b"101 eh",
        b"250-\r\neh",
        b"550 " + b"a" * 9000,
    ],
    ids=lambda reply: repr(reply[:10]),
)
def test_garbled_reply_at_the_end_leaves_the_outcome_unknown(send, reply):
    with _accepting_server(UP_TO_DATA, reply) as port, pytest.raises(OutcomeUnknown):
        send(smtp_port=port)


def test_any_positive_reply_at_the_end_accepts_the_message(send):
    with _accepting_server(UP_TO_DATA, b"251 forwarded") as port:
        assert send(smtp_port=port).startswith("<")


@pytest.mark.parametrize("reply", [b"999 eh", b"\xff garbage", b"250 eh"])
def test_garbled_reply_before_the_message_is_no_refusal_of_it(send, reply):
    replies = (*UP_TO_DATA[:-1], reply + b"\r\n")
    with talking_server(*replies) as port, pytest.raises(ProviderUnavailable) as raised:
        send(smtp_port=port)
    assert type(raised.value) is ProviderUnavailable


@pytest.mark.parametrize(
    "values",
    [
        {"smtp_host": ""},
        {"smtp_port": 9},
        {"smtp_host": "no-such-host.invalid"},
        {"smtp_username": "hats", "smtp_password": "wrong"},
        {"smtp_security": "starttls"},
        {"smtp_security": "tls"},
    ],
)
def test_server_that_cannot_be_used_is_unavailable(send, mailbox, values):
    with pytest.raises(ProviderUnavailable) as raised:
        send(**values)
    assert not isinstance(raised.value, OutcomeUnknown)
    assert mailbox.mails == []


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "::1", "192.168.1.1", "169.254.169.254", "10.0.0.1"]
)
def test_server_that_an_account_names_is_not_in_our_own_network(send, mailbox, host, security):
    with pytest.raises(ProviderUnavailable, match="not at a public address"):
        send(smtp_host=host, smtp_security=security, allow_private=False)
    assert mailbox.mails == []


def test_server_that_an_account_names_is_used_at_a_public_address(send, mailbox, monkeypatch):
    monkeypatch.setattr(addresses, "is_public", lambda address: True)

    send(allow_private=False)

    assert len(mailbox.mails) == 1
    with pytest.raises(ProviderUnavailable, match="SSL"):
        send(smtp_security="tls", allow_private=False)


def hostile(name):
    """Return a server that would keep a client waiting for ever, at the step of a session that the name says."""
    return {
        "silent": silent_server,
        "dripping": dripping_server,
        "dripping greeting": lambda: dripping_server(b"220"),
        "greets and falls silent": lambda: talking_server(GREETING),
        "dripping reply": lambda: dripping_server(GREETING + b"250-"),
        "endless reply": lambda: dripping_server(GREETING + b"250-a\r\n" * 20_000),
        "silent at STARTTLS": lambda: talking_server(GREETING, b"250-me\r\n250 STARTTLS\r\n", b"220 go\r\n"),
        "silent at MAIL": lambda: talking_server(GREETING, b"250 me\r\n"),
        "silent at the end": lambda: talking_server(
            GREETING, b"250 me\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n"
        ),
    }[name]()


@pytest.mark.parametrize(
    ("name", "security", "error"),
    [
        ("silent", "none", ProviderDown),
        ("silent", "tls", ProviderDown),
        ("dripping", "none", ProviderDown),
        ("dripping", "tls", ProviderDown),
        ("dripping greeting", "none", ProviderDown),
        ("greets and falls silent", "none", ProviderDown),
        ("dripping reply", "none", ProviderDown),
        ("endless reply", "none", ProviderDown),
        ("silent at STARTTLS", "starttls", ProviderDown),
        ("silent at MAIL", "none", OutcomeUnknown),
        ("silent at the end", "none", OutcomeUnknown),
    ],
)
def test_session_with_a_hostile_server_ends(send, monkeypatch, name, security, error):
    monkeypatch.setattr("emails.providers.smtp.TOTAL_TIMEOUT_S", 0.4)
    began = time.monotonic()

    with hostile(name) as port, pytest.raises(error) as raised:
        send(smtp_port=port, smtp_security=security)

    assert type(raised.value) is error
    assert time.monotonic() - began < SOON_S


def test_server_that_refuses_connections_is_down(send):
    with pytest.raises(ProviderDown) as raised:
        send(smtp_port=closed_port())
    assert type(raised.value) is ProviderDown


def test_server_that_answers_is_not_down(send):
    """It refuses our password or has no encryption, but it answers at once."""
    for values in ({"smtp_username": "hats", "smtp_password": "wrong"}, {"smtp_security": "starttls"}):
        with pytest.raises(ProviderUnavailable) as raised:
            send(**values)
        assert type(raised.value) is ProviderUnavailable


def test_farewell_that_does_not_come_is_not_waited_for(send, monkeypatch):
    monkeypatch.setattr("emails.providers.bounded_smtp.QUIT_TIMEOUT_S", 0.1)
    with _accepting_server(UP_TO_DATA, b"250 taken") as port:
        assert send(smtp_port=port).startswith("<")


@contextlib.contextmanager
def _accepting_server(replies, last):
    """A server that takes one message, sends the last reply, and doesn't answer QUIT until the client hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as told:
                for reply in replies:
                    connection.sendall(reply)
                    told.readline()
                while told.readline() != b".\r\n":
                    pass
                connection.sendall(last + b"\r\n")
                while told.readline():
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(SOON_S)
        assert not thread.is_alive()
