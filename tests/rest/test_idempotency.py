"""`Idempotency-Key`: the same request is executed once and gets the same answer; a different one is refused."""

import pytest
from django.db import connection

from accounts.models import Market
from commerce.rest.models import IdempotencyRecord
from tests.clients import ADMIN_ROOT, ApiClient
from tests.problems import problem
from tests.threads import run_threads

AUSTRIA = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}


def market_handles(shop):
    with shop.scope():
        return list(Market.objects.order_by("pk").values_list("handle", flat=True))


def records(shop):
    with shop.scope():
        return IdempotencyRecord.objects.count()


def test_same_request_again_replays_the_answer(shop):
    first = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")
    second = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second["Content-Type"] == "application/json"
    assert market_handles(shop) == ["de", "at"]


def test_same_request_in_other_words_replays_the_answer(shop):
    first = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")
    in_other_words = (
        b"{"
        + b", ".join(b'\n"%b" : "%b"' % (k.encode(), AUSTRIA[k].encode()) for k in sorted(AUSTRIA))
        + b"}"
    )

    second = shop.admin.post("markets.json", in_other_words, idempotency_key="a")

    assert second.json() == first.json()


def test_other_body_under_the_same_key_is_refused(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = shop.admin.post("markets.json", AUSTRIA | {"handle": "at-2"}, idempotency_key="a")

    assert problem(response) == (422, "idempotency_key_reused")
    assert market_handles(shop) == ["de", "at"]


def test_other_address_under_the_same_key_is_refused(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = shop.admin.post("locations.json", AUSTRIA, idempotency_key="a")

    assert problem(response) == (422, "idempotency_key_reused")


def test_other_key_is_another_request(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = shop.admin.post("markets.json", AUSTRIA, idempotency_key="b")

    assert problem(response) == (409, "handle_taken")


def test_refused_request_leaves_no_record_and_may_be_sent_again(shop):
    refused = shop.admin.post("markets.json", {}, idempotency_key="a")
    again = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    assert (refused.status_code, again.status_code) == (422, 201)
    assert "Idempotent-Replayed" not in again
    assert records(shop) == 1


def test_failed_request_leaves_no_record(shop, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("accounts.operations.create_market", lambda fields: 1 / 0)
        failed = shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    assert failed.status_code == 500
    assert records(shop) == 0
    assert shop.admin.post("markets.json", AUSTRIA, idempotency_key="a").status_code == 201


@pytest.mark.parametrize("key", ["", "  ", "x" * 256, "a\tb", "\u00a0", "\u00e9"])
def test_key_that_is_none_is_refused(shop, key):
    response = shop.admin.post("markets.json", AUSTRIA, idempotency_key=key)

    assert problem(response) == (400, "idempotency_key_invalid")
    assert market_handles(shop) == ["de"]


@pytest.mark.parametrize("key", ["x", "x" * 255, "a b:c/d'--"])
def test_key_of_any_printable_ascii_characters_is_taken(shop, key):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key=key)

    assert shop.admin.post("markets.json", AUSTRIA, idempotency_key=key)["Idempotent-Replayed"] == "true"


def test_key_of_a_request_that_is_no_post_is_ignored(shop):
    path = f"markets/{shop.market.pk}.json"

    for name in ("First", "Second"):
        shop.admin.put(path, {"name": name}, idempotency_key="a")
        assert shop.admin.get(path, idempotency_key="a").json()["market"]["name"] == name
    assert records(shop) == 0


def test_key_is_the_accounts_own(shop, other_shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = other_shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    assert response.status_code == 201
    assert "Idempotent-Replayed" not in response


def test_key_is_the_surfaces_own(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = shop.storefront.post("carts.json", {"market_id": shop.market.pk}, idempotency_key="a")

    assert response.status_code == 201


def test_key_of_a_workspaces_request_replays(shop, make_shop):
    body = {"handle": "new-shop", "name": "New", "default_currency": "EUR"}

    first = shop.workspace.post("accounts.json", body, idempotency_key="a")
    second = shop.workspace.post("accounts.json", body, idempotency_key="a")
    other = make_shop().workspace.post("accounts.json", body, idempotency_key="a")

    assert second.json() == first.json()
    assert second["Idempotent-Replayed"] == "true"
    assert problem(other) == (409, "handle_taken")


def test_replay_shows_no_secret(shop):
    body = {"kind": "storefront", "name": "App"}

    first = shop.admin.post("api_keys.json", body, idempotency_key="a").json()["api_key"]
    second = shop.admin.post("api_keys.json", body, idempotency_key="a").json()["api_key"]

    assert first["secret"].startswith("pk_")
    assert second == first | {"secret": None}
    with shop.scope():
        assert first["secret"].encode() not in bytes(IdempotencyRecord.objects.get().body)


def test_replay_needs_the_scope_still(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = shop.client_with("read_markets").post("markets.json", AUSTRIA, idempotency_key="a")

    assert problem(response) == (403, "insufficient_scope")


def test_complete_needs_a_key(shop):
    response = shop.storefront.post("checkouts/unknown/complete.json", {})

    assert problem(response) == (400, "idempotency_key_required")


@pytest.mark.django_db(transaction=True)
def test_request_in_flight_refuses_its_repetition(shop):
    body = AUSTRIA | {"handle": "late"}

    def lock(cursor):
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{shop.id}:admin:a"])

    with shop.scope(), connection.cursor() as cursor:
        lock(cursor)
        (response,) = run_threads(1, lambda _: shop.admin.post("markets.json", body, idempotency_key="a"))

    assert problem(response) == (409, "request_in_progress")
    assert market_handles(shop) == ["de"]


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_under_one_key_are_done_once(shop):
    for round_number in range(5):
        body = AUSTRIA | {"handle": f"at-{round_number}", "locale": f"{'abcde'[round_number]}t-AT"}
        key = f"round-{round_number}"

        responses = run_threads(
            8, lambda _, body=body, key=key: shop.admin.post("markets.json", body, idempotency_key=key)
        )

        done = [response.json() for response in responses if response.status_code == 201]
        refused = [response.json()["code"] for response in responses if response.status_code != 201]
        assert done[1:] == done[:1] * (len(done) - 1)
        assert set(refused) <= {"request_in_progress"}
        assert len(done) >= 1

    assert market_handles(shop) == ["de", "at-0", "at-1", "at-2", "at-3", "at-4"]
    assert records(shop) == 5


def test_client_without_a_key_of_the_surface_gets_no_replay(shop):
    shop.admin.post("markets.json", AUSTRIA, idempotency_key="a")

    response = ApiClient().post(f"{ADMIN_ROOT}{shop.handle}/markets.json", AUSTRIA, idempotency_key="a")

    assert response.status_code == 401
