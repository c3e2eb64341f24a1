"""POST /webhooks/provider: whose signature an event needs."""

import base64
import hashlib
import hmac
import time

import orjson
import pytest

from commerce.configuration.operations import change_settings
from commerce.configuration.registry import installation_value
from tests.emails.api.provider_webhook.events import (
    MESSAGE_ID,
    event,
    is_untouched,
    list_events,
    post,
    reread,
)
from tests.problems import problem

SECRET_NAME = "commerce.email.provider_webhook_secret"
SVIX_SECRET = "whsec_" + base64.b64encode(b"a key of twenty-four byte").decode()


def hex_signature(body, secret):
    return hmac.new(secret.encode(), orjson.dumps(body), hashlib.sha256).hexdigest()


def svix_headers(body, *, secret=SVIX_SECRET, sent_at=None, key="msg_1", prefix="svix"):
    timestamp = str(int(time.time() if sent_at is None else sent_at))
    signed = f"{key}.{timestamp}.".encode() + orjson.dumps(body)
    made_with = base64.b64decode(secret.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.new(made_with, signed, hashlib.sha256).digest()).decode()
    return {
        f"{prefix}_id": key,
        f"{prefix}_timestamp": timestamp,
        f"{prefix}_signature": f"v1,AAAA v2,{signature} v1,{signature}",
    }


def set_secret(shop, secret):
    with shop.scope():
        change_settings(changes={SECRET_NAME: secret})


@pytest.fixture
def installation_secret(monkeypatch):
    monkeypatch.setenv("COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET", "of-the-installation")
    installation_value.cache_clear()
    yield "of-the-installation"
    installation_value.cache_clear()


def test_event_with_the_signature_of_its_bytes_is_taken(shop, delivery):
    set_secret(shop, "s3cret")

    response = post(event(), provider_signature=hex_signature(event(), "s3cret"))

    assert response.status_code == 200
    assert reread(shop, delivery).status == "delivered"


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "0" * 64,
        hex_signature(event(), "other"),
        hex_signature(event("email.sent"), "s3cret"),
        "\u00e9",
    ],
)
def test_event_without_the_signature_of_its_bytes_is_refused(shop, delivery, signature):
    set_secret(shop, "s3cret")

    response = post(event(), **({} if signature is None else {"provider_signature": signature}))

    assert problem(response) == (401, "invalid_signature")
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize("own_secret", [None, ""])
def test_unsigned_event_is_refused_unless_the_installation_takes_such(shop, delivery, settings, own_secret):
    settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED = False
    set_secret(shop, own_secret)
    unknown = event() | {"data": event()["data"] | {"email_id": "unheard of"}}

    for body in (event(), unknown, event("email.complained")):
        assert problem(post(body)) == (401, "invalid_signature")

    assert is_untouched(shop, delivery)


def test_secret_of_one_account_signs_nothing_for_another(shop, other_shop, delivery, settings):
    """Whether the request names no account, the one of the message or the one of the secret."""
    settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED = False
    set_secret(other_shop, "s3cret")
    signature = hex_signature(event(), "s3cret")

    assert problem(post(event(), provider_signature=signature)) == (401, "invalid_signature")
    named = post(event(), provider_signature=signature, x_account_id=str(shop.id))
    assert problem(named) == (401, "invalid_signature")
    other = post(event(), provider_signature=signature, x_account_id=str(other_shop.id))
    assert problem(other) == (404, "account_not_resolved")
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize("prefix", ["svix", "webhook"])
def test_event_with_a_signature_of_svix_is_taken(shop, delivery, prefix):
    set_secret(shop, SVIX_SECRET)

    assert post(event(), **svix_headers(event(), prefix=prefix)).status_code == 200
    assert list_events(shop)[0].event_key == "msg_1"


@pytest.mark.parametrize(
    "headers",
    [
        svix_headers(event(), secret="whsec_AAAA"),
        svix_headers(event("email.sent")),
        svix_headers(event()) | {"svix_id": "msg_2"},
        svix_headers(event()) | {"svix_timestamp": ""},
        svix_headers(event()) | {"svix_timestamp": "9" * 30},
        svix_headers(event(), sent_at=time.time() - 3600),
        svix_headers(event(), sent_at=time.time() + 3600),
        svix_headers(event()) | {"svix_signature": "\u00e9"},
        svix_headers(event()) | {"provider_signature": "0" * 64},
    ],
)
def test_event_without_a_signature_of_svix_that_holds_is_refused(shop, delivery, headers):
    set_secret(shop, SVIX_SECRET)

    assert problem(post(event(), **headers)) == (401, "invalid_signature")
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize("secret", ["whsec_", "whsec_not base64", "plain"])
def test_secret_that_is_none_of_svix_takes_no_signature_of_svix(shop, delivery, secret):
    set_secret(shop, secret)

    assert problem(post(event(), **svix_headers(event()))) == (401, "invalid_signature")


def test_secret_of_the_account_wins_over_the_installations(shop, delivery, installation_secret):
    set_secret(shop, "s3cret")

    refused = post(event(), provider_signature=hex_signature(event(), installation_secret))
    taken = post(event(), provider_signature=hex_signature(event(), "s3cret"))

    assert problem(refused) == (401, "invalid_signature")
    assert taken.status_code == 200


@pytest.mark.parametrize("stated", [None, "own", "no-such"])
def test_unsigned_event_tells_nothing_of_what_exists(shop, delivery, installation_secret, stated):
    headers = {} if stated is None else {"x_account_id": str(shop.id) if stated == "own" else "999999"}

    known, unknown = post(event(), **headers), post(event(message_id="x"), **headers)

    assert problem(known) == problem(unknown) == (401, "invalid_signature")
    assert known.json() | {"request_id": ""} == unknown.json() | {"request_id": ""}
    assert is_untouched(shop, delivery)


def test_signed_event_of_an_unknown_message_is_not_resolved(shop, installation_secret):
    body = event()

    response = post(body, provider_signature=hex_signature(body, installation_secret))

    assert problem(response) == (404, "account_not_resolved")


@pytest.mark.parametrize(("message_id", "named"), [("x", 0), (MESSAGE_ID, 1)])
def test_unresolved_event_may_be_signed_by_an_account_too(
    shop, other_shop, delivery, installation_secret, message_id, named
):
    set_secret(shop, "s3cret")
    body = event(message_id=message_id)

    response = post(
        body,
        x_account_id=str([shop, other_shop][named].id),
        provider_signature=hex_signature(body, "s3cret"),
    )

    assert problem(response) == (404, "account_not_resolved")
    assert is_untouched(shop, delivery)
