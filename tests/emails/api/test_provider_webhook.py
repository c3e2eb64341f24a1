import base64
import hashlib
import hmac
import time
from datetime import UTC, datetime
from itertools import count

import orjson
import pytest
from django.utils import timezone

from commerce.configuration.operations import change_settings
from commerce.configuration.registry import installation_value
from commerce.events.models import Event
from emails.models import EmailDelivery, EmailDeliveryEvent
from tests.clients import ApiClient
from tests.factories import make_delivery
from tests.problems import field_errors, problem
from tests.threads import run_threads

MESSAGE_ID = "4ef9a417-02e9-4d39-ad75-9611e0fcc33c"
CREATED_AT = "2026-11-20T09:30:00Z"
OCCURRED_AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SECRET_NAME = "commerce.email.provider_webhook_secret"
SVIX_SECRET = "whsec_" + base64.b64encode(b"a key of twenty-four byte").decode()

_keys = count(1)


def event(event_type="email.delivered", message_id=MESSAGE_ID, created_at=CREATED_AT, **others):
    return {"type": event_type, "data": {"email_id": message_id, "created_at": created_at}, **others}


def post(body, *, query="", **headers):
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return ApiClient().post(f"/webhooks/provider{query}", content, **headers)


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


def reread(shop, delivery):
    with shop.scope():
        return EmailDelivery.objects.get(pk=delivery.pk)


def kept(shop):
    with shop.scope():
        return list(EmailDeliveryEvent.objects.order_by("pk"))


def published(shop):
    with shop.scope():
        return [(event.type, event.data) for event in Event.objects.order_by("pk")]


def is_untouched(shop, delivery):
    unchanged = reread(shop, delivery)
    return (unchanged.status, unchanged.delivered_at, kept(shop), published(shop)) == ("sent", None, [], [])


def set_secret(shop, secret):
    with shop.scope():
        change_settings(changes={SECRET_NAME: secret})


@pytest.fixture(autouse=True)
def _unsigned_events_are_taken(settings):
    """As the contract has it where no secret is set, and as an installation may allow."""
    settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED = True


@pytest.fixture
def delivery(shop):
    return make_delivery(shop, provider_message_id=MESSAGE_ID, reference_type="order", reference_id=7)


@pytest.fixture
def installation_secret(monkeypatch):
    monkeypatch.setenv("COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET", "of-the-installation")
    installation_value.cache_clear()
    yield "of-the-installation"
    installation_value.cache_clear()


@pytest.mark.parametrize(
    ("event_type", "status", "time_field"),
    [
        ("email.delivered", "delivered", "delivered_at"),
        ("email.opened", "opened", "opened_at"),
        ("email.clicked", "clicked", "first_clicked_at"),
        ("email.bounced", "bounced", "bounced_at"),
    ],
)
def test_event_moves_the_delivery_and_is_published(shop, delivery, event_type, status, time_field):
    response = post(event(event_type))

    assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": False})
    moved = reread(shop, delivery)
    assert (moved.status, getattr(moved, time_field)) == (status, OCCURRED_AT)
    (row,) = kept(shop)
    assert (row.type, row.delivery_id, row.occurred_at) == (event_type, delivery.pk, OCCURRED_AT)
    data = {
        "email_delivery_id": str(delivery.pk),
        "template_key": "order.confirmation",
        "customer_id": None,
        "provider_message_id": MESSAGE_ID,
        "reference_type": "order",
        "reference_id": "7",
        time_field: "2026-11-20T09:30:00Z",
    }
    assert published(shop) == [(event_type, data)]


def test_event_shows_in_the_admin_api(shop, delivery):
    post(event("email.opened"))

    shown = shop.admin.get(f"email/deliveries/{delivery.pk}.json").json()["email_delivery"]
    assert (shown["status"], shown["opened_at"]) == ("opened", "2026-11-20T09:30:00Z")


def test_repeated_event_changes_nothing(shop, delivery):
    post(event())
    before = reread(shop, delivery)

    response = post(event())

    assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": True})
    assert reread(shop, delivery).__dict__ | {"_state": None} == before.__dict__ | {"_state": None}
    assert (len(kept(shop)), len(published(shop))) == (1, 1)


@pytest.mark.parametrize("header", ["svix_id", "webhook_id"])
def test_event_is_told_from_others_by_the_id_that_the_provider_gives_it(shop, delivery, header):
    same = [post(event("email.clicked"), **{header: "1"}) for _ in range(2)]
    other = post(event("email.clicked"), **{header: "2"})

    assert [answer.json()["duplicate"] for answer in (*same, other)] == [False, True, False]
    assert [row.event_key for row in kept(shop)] == ["1", "2"]


@pytest.mark.parametrize("key", ["x" * 256, "", "\u00e9" * 300])
def test_event_with_an_id_that_cannot_be_kept_is_told_from_others_by_what_it_says(shop, delivery, key):
    assert [post(event(), svix_id=key).json()["duplicate"] for _ in range(2)] == [False, True]


def test_event_of_a_type_that_came_before_is_kept_and_not_published_again(shop, delivery):
    post(event("email.opened"))

    response = post(event("email.opened", created_at="2026-11-20T10:00:00Z"))

    assert response.json() == {"received": True, "duplicate": False}
    assert reread(shop, delivery).opened_at == OCCURRED_AT
    assert (len(kept(shop)), len(published(shop))) == (2, 1)


def test_late_event_sets_its_time_and_leaves_the_status(shop, delivery):
    post(event("email.clicked"))

    post(event("email.delivered", created_at="2026-11-20T09:00:00Z"))

    late = reread(shop, delivery)
    assert (late.status, late.delivered_at) == ("clicked", datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [name for name, _ in published(shop)] == ["email.clicked", "email.delivered"]


def test_event_of_resend_has_its_time_beside_the_data(shop, delivery):
    post(event(created_at="2026-11-20 09:29:00.123456+00") | {"created_at": CREATED_AT})

    assert reread(shop, delivery).delivered_at == OCCURRED_AT


def test_event_from_the_future_happens_now(shop, delivery):
    post(event(created_at="9999-12-31T23:59:59Z"))

    assert abs((reread(shop, delivery).delivered_at - timezone.now()).total_seconds()) < 60


@pytest.mark.parametrize("event_type", ["email.sent", "email.delivery_delayed", "contact.created", "x"])
def test_event_of_another_type_is_ignored(shop, delivery, event_type):
    for body in (event(event_type), {"type": event_type, "data": {}}):
        response = post(body)

        assert response.status_code == 200
        assert response.json() == {"received": True, "duplicate": False, "ignored": True}
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"data": {"email_id": MESSAGE_ID}}, ("type", "required")),
        ({"type": "email.delivered"}, ("data", "required")),
        ({"type": 1, "data": {}}, ("type", "invalid")),
        ({"type": "email.delivered", "data": []}, ("data", "invalid")),
        ({"type": "email.delivered", "data": {"created_at": CREATED_AT}}, ("data.email_id", "required")),
        ({"type": "email.delivered", "data": {"email_id": MESSAGE_ID}}, ("data.created_at", "required")),
        (event(message_id=1), ("data.email_id", "invalid")),
        (event(message_id="\x00"), ("data", "null_characters_not_allowed")),
        (event(created_at="yesterday"), ("data.created_at", "invalid")),
        (event(created_at="2026-11-20T09:30:00"), ("data.created_at", "no_offset")),
    ],
)
def test_event_that_lacks_what_it_must_say_is_refused(shop, delivery, body, error):
    assert field_errors(post(body)) == {error}
    assert is_untouched(shop, delivery)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
def test_body_that_is_no_json_object_is_refused(db, body):
    assert problem(post(body)) == ((422, "validation_failed") if body == b"" else (400, "malformed_request"))


def test_body_past_one_mebibyte_is_refused(db):
    assert problem(post(b'{"a": "' + b"x" * 1024 * 1024 + b'"}')) == (413, "body_too_large")


def test_other_methods_are_refused(db):
    response = ApiClient().get("/webhooks/provider")

    assert problem(response) == (405, "method_not_allowed")
    assert response["Allow"] == "POST"


@pytest.mark.parametrize("stated", [{"x_account_id": "{}"}, {"query": "?account_id={}"}, {}])
def test_account_is_the_one_stated_or_the_messages(shop, delivery, stated):
    response = post(event(), **{name: value.format(shop.id) for name, value in stated.items()})

    assert response.status_code == 200
    assert reread(shop, delivery).status == "delivered"


def test_header_wins_over_the_query(shop, other_shop, delivery):
    response = post(event(), query=f"?account_id={other_shop.id}", x_account_id=str(shop.id))

    assert response.status_code == 200


@pytest.mark.parametrize("stated", ["other", "1", "x", "0", "-1", "9" * 40, "\u0661"])
def test_account_that_is_not_the_messages_is_not_resolved(shop, other_shop, delivery, stated):
    stated = str(other_shop.id) if stated == "other" else stated
    headers = {"x_account_id": stated} if stated.isascii() else {"query": f"?account_id={stated}"}

    assert problem(post(event(), **headers)) == (404, "account_not_resolved")
    assert is_untouched(shop, delivery)


def test_message_that_is_not_known_yet_is_not_resolved_and_taken_when_it_is(shop):
    before = [post(event()), post(event(), x_account_id=str(shop.id))]

    delivery = make_delivery(shop, provider_message_id=MESSAGE_ID)

    assert [problem(answer) for answer in before] == [(404, "account_not_resolved")] * 2
    assert post(event()).json() == {"received": True, "duplicate": False}
    assert reread(shop, delivery).status == "delivered"


def test_message_id_of_two_accounts_needs_the_account(shop, other_shop, delivery):
    twin = make_delivery(other_shop, provider_message_id=MESSAGE_ID)

    assert problem(post(event())) == (404, "account_not_resolved")
    assert post(event(), x_account_id=str(other_shop.id)).status_code == 200
    assert reread(other_shop, twin).status == "delivered"
    assert is_untouched(shop, delivery)


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
    """Neither by the message's id nor by naming either account."""
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
    assert kept(shop)[0].event_key == "msg_1"


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


def test_events_are_append_only(shop, delivery):
    post(event())

    with shop.scope(), pytest.raises(Exception, match="permission denied"):
        EmailDeliveryEvent.objects.update(type="email.opened")


@pytest.mark.parametrize("number", [1, 3])
def test_statements_of_an_event_are_fixed(shop, delivery, django_assert_num_queries, number):
    for _ in range(number):
        post(event(), svix_id=str(next(_keys)))

    # The account, its scope, the secret, the delivery, the event.
    with django_assert_num_queries(8):
        post(event(), svix_id="last")


@pytest.mark.django_db(transaction=True)
def test_same_event_twenty_times_at_once_is_stored_once(shop, delivery):
    responses = run_threads(20, lambda _: post(event("email.opened")))

    assert [response.status_code for response in responses] == [200] * 20
    assert sorted(response.json()["duplicate"] for response in responses) == [False] + [True] * 19
    assert (len(kept(shop)), len(published(shop))) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_different_events_at_once_are_all_kept(shop, delivery):
    types = ["email.delivered", "email.opened", "email.clicked", "email.bounced"] * 3

    responses = run_threads(12, lambda index: post(event(types[index]), svix_id=str(index)))

    assert [response.json()["duplicate"] for response in responses] == [False] * 12
    assert reread(shop, delivery).status == "bounced"
    assert len(kept(shop)) == 12
    assert sorted(name for name, _ in published(shop)) == sorted(set(types))
