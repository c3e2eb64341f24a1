"""The installation's own mail server is recognised by its address, so that no account gets around the check of senders."""

import pytest

from commerce.outside import addresses, lookups
from emails.providers import ProviderDown, get_provider, relay
from tests.emails.providers.test_services import MESSAGE, settings_of
from tests.emails.providers.test_smtp import Mailbox, mailbox, server  # noqa: F401  fixtures

HERE = [(2, 1, 6, "", ("127.0.0.1", 25))]
ELSEWHERE = [(2, 1, 6, "", ("192.0.2.1", 25))]


@pytest.fixture
def names(monkeypatch):
    """Set what name servers answer: `names["mail.example"] = HERE`. `names["asked"]` lists the look-ups."""
    found, asked = {}, []

    def look_up(host, port, *, timeout_s):
        asked.append(host)
        if host not in found:
            raise OSError("No such name.")
        return [(*entry[:4], (entry[4][0], port)) for entry in found[host]]

    monkeypatch.setattr(relay, "look_up", look_up)
    monkeypatch.setattr(
        addresses,
        "look_up",
        lambda host, port, **rest: (
            look_up(host, port, **rest) if host in found else lookups.look_up(host, port, **rest)
        ),
    )
    found["asked"] = asked
    return found


@pytest.fixture
def send(server):  # noqa: F811  the fixture
    def send(host="127.0.0.1", **values):
        values = {"smtp_host": host, "smtp_port": server.port, "smtp_security": "none"} | values
        return get_provider(settings_of("smtp", **values)).send(MESSAGE, idempotency_key="1:a")

    return send


@pytest.mark.parametrize("host", ["127.0.0.1", "alias.example"])
def test_installations_server_under_another_name_is_refused(send, names, mailbox, host):  # noqa: F811
    names |= {"mail.example": HERE, "alias.example": HERE}

    with pytest.raises(ProviderDown, match="This is the installation's mail server"):
        send(host, must_not_reach="mail.example")

    assert mailbox.mails == []


def test_installations_server_on_this_machine_is_refused_at_any_of_its_addresses(send, names, mailbox):  # noqa: F811
    names["mail.example"] = [(2, 1, 6, "", ("127.0.0.5", 25))]

    with pytest.raises(ProviderDown, match="This is the installation's mail server"):
        send(must_not_reach="mail.example")

    assert mailbox.mails == []


def test_another_server_is_used(send, names, mailbox):  # noqa: F811
    names["mail.example"] = ELSEWHERE

    send(must_not_reach="mail.example")
    send()

    assert len(mailbox.mails) == 2


def test_server_is_looked_up_once_a_minute_and_remembered_while_names_fail(send, names, mailbox, monkeypatch):  # noqa: F811
    now = [0.0]
    monkeypatch.setattr("emails.providers.relay.time.monotonic", lambda: now[0])
    names["mail.example"] = ELSEWHERE
    for _ in range(3):
        relay._find_addresses("mail.example")
    assert names["asked"] == ["mail.example"]

    now[0] = 61
    del names["mail.example"]

    for _ in range(3):
        assert {str(address) for address in relay._find_addresses("mail.example")} == {"192.0.2.1"}
    assert names["asked"] == ["mail.example"] * 2


def test_nothing_is_sent_while_nobody_can_tell(send, names, mailbox):  # noqa: F811
    with pytest.raises(ProviderDown, match="can't be found"):
        send(must_not_reach="mail.example")

    assert mailbox.mails == []
