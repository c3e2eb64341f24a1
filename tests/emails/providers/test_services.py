import re
import threading
import warnings

import pytest
import requests

from commerce.configuration.registry import known_settings
from emails.mail_settings import MailSettings
from emails.messages import Message
from emails.providers import MessageRefused, OutcomeUnknown, ProviderBusy, ProviderUnavailable, get_provider
from emails.providers.services import SERVICES, ServiceProvider
from tests.threads import run_threads

MESSAGE = Message(
    from_name="Hats & Co, Žižkov",
    from_email="hats@example.com",
    to_email="ann@example.com",
    locale="cs-CZ",
    subject="Vaše objednávka 1001",
    html="<p>Děkujeme</p>",
    text="Děkujeme",
    reply_to="help@example.com",
)


def settings_of(provider, **values):
    defaults = {
        "provider": provider,
        "api_key": "re_1",
        "smtp_host": "",
        "smtp_port": 587,
        "smtp_security": "starttls",
        "smtp_username": "",
        "smtp_password": "",
        "reply_to": "",
        "allow_private": True,
    }
    return MailSettings(**defaults | values)


def send(key="1:a", message=MESSAGE, **values):
    return get_provider(settings_of("resend", **values)).send(message, idempotency_key=key)


def test_message_reaches_resend_whole(resend):
    message_id = send()

    (request,) = resend.requests
    assert message_id == resend.ids["1:a"]
    assert request["path"] == "/emails"
    assert request["headers"]["Authorization"] == "Bearer re_1"
    assert request["headers"]["Idempotency-Key"] == "1:a"
    assert request["message"] == {
        "from": '"Hats & Co, Žižkov" <hats@example.com>',
        "to": ["ann@example.com"],
        "subject": "Vaše objednávka 1001",
        "reply_to": ["help@example.com"],
        "headers": {"Content-Language": "cs-CZ"},
        "text": "Děkujeme",
        "html": "<p>Děkujeme</p>",
    }


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_gets_what_anymail_sends(name, monkeypatch):
    requested = []

    def refuse(adapter, request, **options):
        body = request.body if isinstance(request.body, bytes) else request.body.encode()
        requested.append((request.method, request.url, dict(request.headers.lower_items()), body))
        raise requests.ConnectionError

    monkeypatch.setattr("requests.adapters.HTTPAdapter.send", refuse)
    plain = ServiceProvider(settings_of(name))
    plain._backend.session = plain._backend.create_session()

    for provider in (ServiceProvider(settings_of(name)), plain):
        with pytest.raises(OutcomeUnknown):
            provider.send(MESSAGE, idempotency_key="1:a")

    ours, of_anymail = requested
    assert ours == of_anymail


def test_redirect_is_not_followed(resend):
    resend.answers, resend.location = [307], f"{resend.url}/other"

    with pytest.raises(ProviderUnavailable, match="307") as raised:
        send()
    assert type(raised.value) is ProviderUnavailable
    assert len(resend.requests) == 1


def test_environment_is_read_once(resend, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/certificates.pem")
    monkeypatch.setenv("NO_PROXY", "other.test")

    session = ServiceProvider(settings_of("resend"))._backend.session

    assert session.proxies["http"] == "http://proxy.test:3128"
    assert session.verify == "/certificates.pem"
    assert session.trust_env is False


def test_proxy_is_left_out_where_the_environment_says_so(resend, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    assert "http" not in ServiceProvider(settings_of("resend"))._backend.session.proxies


def test_key_sent_twice_is_one_message(resend):
    assert send() == send()
    assert len(resend.received) == 1


def test_key_sent_with_another_message_is_refused(resend):
    send()

    with pytest.raises(MessageRefused, match="invalid_idempotent_request"):
        send(message=Message(**MESSAGE.as_dict() | {"subject": "Other"}))


@pytest.mark.parametrize("key", ["1:" + "x" * 255, "1:ž", "1:\u00a0", "1:a\tb"])
def test_key_that_no_header_holds_is_sent_as_its_digest(resend, key):
    send(key)

    (sent,) = resend.received
    assert re.fullmatch("[0-9a-f]{64}", sent)
    assert send(key) == resend.ids[sent]


@pytest.mark.parametrize("status", [400, 404, 409, 413, 422])
def test_message_that_the_provider_refuses_is_refused(resend, status):
    resend.answers = [status]

    with pytest.raises(MessageRefused, match=str(status)):
        send()


@pytest.mark.parametrize("status", [401, 402, 403, 408, 425, 429, 500, 502, 503, 504])
def test_answer_that_is_not_about_the_message_is_tried_again(resend, status):
    resend.answers = [status]

    with pytest.raises(ProviderUnavailable, match=str(status)) as raised:
        send()
    assert not isinstance(raised.value, OutcomeUnknown)


@pytest.mark.parametrize(("said", "for_s"), [("7", 7), ("0", 1), ("99999", 3600), ("tomorrow", 5), (None, 5)])
def test_provider_that_is_busy_says_for_how_long(resend, said, for_s):
    resend.answers, resend.retry_after = [429], said

    with pytest.raises(ProviderBusy) as raised:
        send()
    assert raised.value.for_s == for_s


@pytest.mark.parametrize(
    ("said", "for_s"),
    [
        ("Sun, 22 Nov 2026 12:00:40 GMT", 40),
        ("Sunday, 22-Nov-26 12:00:40 GMT", 40),
        ("Sun Nov 22 12:00:40 2026", 40),
        ("Sun, 22 Nov 2026 11:00:00 GMT", 1),
        ("Sun, 22 Nov 2026 23:00:00 GMT", 3600),
        ("Sun, 99 Nov 2026 12:00:40 GMT", 5),
    ],
)
def test_provider_that_is_busy_says_until_when(resend, monkeypatch, said, for_s):
    monkeypatch.setattr("emails.providers.services.time.time", lambda: 1_795_348_800.0)
    resend.answers, resend.retry_after = [429], said

    with pytest.raises(ProviderBusy) as raised:
        send()
    assert raised.value.for_s == for_s


def test_provider_that_cannot_be_reached_is_unavailable(settings):
    settings.ANYMAIL = {"RESEND_API_URL": "http://127.0.0.1:9/"}

    with pytest.raises(ProviderUnavailable) as raised:
        send(api_key="unreachable")
    assert not isinstance(raised.value, OutcomeUnknown)


def test_answer_that_does_not_come_leaves_the_outcome_unknown(resend):
    resend.hangs_up = True

    with pytest.raises(OutcomeUnknown):
        send()
    assert len(resend.received) == 1


def test_provider_that_is_too_slow_leaves_the_outcome_unknown(resend, monkeypatch):
    monkeypatch.setattr("emails.providers.services.TOTAL_TIMEOUT_S", 0.1)
    resend.delay_s = 30

    with pytest.raises(OutcomeUnknown):
        send(api_key="slow")


def test_provider_without_a_key_is_unavailable(resend):
    with pytest.raises(ProviderUnavailable, match=r"commerce\.email\.api_key"):
        send(api_key="")
    assert resend.requests == []


@pytest.mark.parametrize("provider", ["resend", "mailgun", "postmark"])
@pytest.mark.parametrize("api_key", ["ключ", " re_1", "re_é"])
def test_key_that_no_header_holds_is_not_sent(resend, provider, api_key):
    with pytest.raises(ProviderUnavailable, match=r"commerce\.email\.api_key") as raised:
        get_provider(settings_of(provider, api_key=api_key)).send(MESSAGE, idempotency_key="1:a")
    assert type(raised.value) is ProviderUnavailable
    assert resend.requests == []


@pytest.mark.parametrize("name", ["subject", "reply_to", "locale", "from_name"])
@pytest.mark.parametrize("text", ["a@example.com\nBcc: all@example.com", "a@example.com\r"])
def test_message_with_a_header_of_two_lines_is_refused(resend, name, text):
    with pytest.raises(MessageRefused):
        send(message=Message(**MESSAGE.as_dict() | {name: text}))
    assert resend.requests == []


@pytest.mark.parametrize("to_email", ["nobody", "a@b@c", "", "ann@example.com\nBcc: all@example.com"])
def test_message_that_cannot_be_sent_is_refused(resend, to_email):
    with pytest.raises(MessageRefused):
        send(message=Message(**MESSAGE.as_dict() | {"to_email": to_email}))
    assert resend.requests == []


def test_threads_have_sessions_of_their_own(resend):
    keys = run_threads(4, lambda index: (send(f"1:{index}"), threading.get_ident())[0])

    assert len(set(keys)) == len(resend.received) == 4


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_can_be_made(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_provider(settings_of(name)).name == name


def test_every_provider_that_an_account_may_choose_is_there():
    assert set(known_settings()["commerce.email.provider"].choices) == {"local", "smtp", *SERVICES}


def test_secrets_are_not_shown_in_traces():
    shown = repr(settings_of("resend", api_key="re_secret", smtp_password="pw_secret"))

    assert "secret" not in shown
