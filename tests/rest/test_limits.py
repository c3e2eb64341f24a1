"""Rate limits by key, account, token and address, in windows of a minute."""

from datetime import UTC, datetime, timedelta

import pytest
import redis
import time_machine

from commerce.redis import client as redis_client
from commerce.rest import limits
from config.versions import CURRENT_VERSION
from tests import factories
from tests.clients import ApiClient
from tests.problems import problem
from tests.servers import closed_port

# The twentieth second of a minute: 40 s are left.
NOW = datetime(2026, 11, 20, 10, 0, 20, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _still_clock():
    with time_machine.travel(NOW, tick=False):
        yield


def headers(response):
    return tuple(response.get(f"RateLimit-{name}") for name in ("Limit", "Remaining", "Reset"))


def test_limit_counts_down_in_the_headers(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 3

    assert [headers(shop.admin.get("markets.json")) for _ in range(3)] == [
        ("3", "2", "40"),
        ("3", "1", "40"),
        ("3", "0", "40"),
    ]


def test_limit_spent_refuses_until_the_next_minute(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 1
    shop.admin.get("markets.json")

    refused = shop.admin.get("markets.json")

    assert problem(refused) == (429, "rate_limited")
    assert refused["Retry-After"] == "40"
    assert headers(refused) == ("1", "0", "40")
    assert refused["X-Api-Version"] == CURRENT_VERSION
    with time_machine.travel(datetime(2026, 11, 20, 10, 1, 0, tzinfo=UTC), tick=False):
        assert shop.admin.get("markets.json").status_code == 200


def test_limit_refuses_before_anything_is_done(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 1
    shop.admin.get("markets.json")
    body = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}

    assert shop.admin.post("markets.json", body).status_code == 429

    settings.RATE_LIMIT_PER_KEY = 0
    assert len(shop.admin.get("markets.json").json()["markets"]) == 1


def test_limit_is_of_one_key(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 1
    shop.admin.get("markets.json")

    assert shop.storefront.get("markets.json").status_code == 200
    assert shop.client_with().get("markets.json").status_code == 200
    assert shop.admin.get("markets.json").status_code == 429


def test_limit_of_a_token_is_apart_from_the_keys(shop, settings):
    settings.RATE_LIMIT_PER_TOKEN = 2
    first, second = (factories.make_cart(shop).token for _ in range(2))

    answers = [shop.storefront.get(f"carts/{first}.json") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert headers(answers[0]) == ("2", "1", "40")
    assert shop.storefront.get(f"carts/{second}.json").status_code == 200


def test_limit_of_zero_is_none(shop, settings):
    settings.RATE_LIMIT_PER_KEY = settings.RATE_LIMIT_PER_ACCOUNT = 0
    settings.RATE_LIMIT_PER_ADDRESS = settings.RATE_LIMIT_PER_TOKEN = 0

    responses = [shop.admin.get("markets.json"), shop.storefront.get("carts/none.json")]

    assert [(r.status_code, headers(r)) for r in responses] == [
        (code, (None, None, None)) for code in (200, 404)
    ]


def test_limit_of_an_account_is_of_all_its_keys(shop, other_shop, settings):
    settings.RATE_LIMIT_PER_ACCOUNT = 3
    shop.admin.get("markets.json")
    shop.storefront.get("markets.json")
    shop.client_with().get("markets.json")

    assert problem(shop.storefront.get("markets.json")) == (429, "rate_limited")
    assert problem(shop.workspace.get(f"{shop.handle}/markets.json")) == (429, "rate_limited")
    assert other_shop.storefront.get("markets.json").status_code == 200
    assert shop.workspace.get("accounts.json").status_code == 200


def test_stranger_at_one_address_does_not_use_up_a_storefront(shop, other_shop, settings):
    settings.RATE_LIMIT_PER_ADDRESS = 2
    stranger = [at("198.51.100.7", shop.storefront.get, "markets.json") for _ in range(3)]

    assert [response.status_code for response in stranger] == [200, 200, 429]
    assert (headers(stranger[1]), stranger[2]["Retry-After"]) == (("2", "0", "40"), "40")
    assert at("198.51.100.8", shop.storefront.get, "markets.json").status_code == 200
    assert at("198.51.100.7", other_shop.storefront.get, "markets.json").status_code == 200
    # Merchants' systems use secret keys, and aren't limited by address.
    assert at("198.51.100.7", shop.admin.get, "markets.json").status_code == 200


def test_addresses_of_one_ipv6_network_are_one(shop, settings):
    settings.RATE_LIMIT_PER_ADDRESS = 1
    at("2001:db8:0:1::1", shop.storefront.get, "markets.json")

    assert at("2001:db8:0:1:ffff::2", shop.storefront.get, "markets.json").status_code == 429
    assert at("2001:db8:0:2::1", shop.storefront.get, "markets.json").status_code == 200


def test_address_that_keeps_sending_unknown_keys_is_not_looked_up_any_more(
    shop, settings, django_assert_num_queries
):
    settings.UNKNOWN_KEYS_PER_ADDRESS = 2
    known = ApiClient.storefront(shop.issue("storefront"))
    stranger = [ApiClient.storefront(f"pk_{number:032}") for number in range(4)]
    at("198.51.100.7", known.get, "markets.json")

    first = [at("198.51.100.7", client.get, "markets.json") for client in stranger[:2]]
    with django_assert_num_queries(0):
        then = [at("198.51.100.7", client.get, "markets.json") for client in stranger[2:]]

    assert [problem(response) for response in first] == [(401, "unauthenticated")] * 2
    assert [problem(response) for response in then] == [(429, "rate_limited")] * 2
    assert then[0]["Retry-After"] == "40"
    # A known key goes on working, and so do other addresses.
    assert at("198.51.100.7", known.get, "markets.json").status_code == 200
    assert problem(at("198.51.100.8", stranger[3].get, "markets.json")) == (401, "unauthenticated")
    assert at("198.51.100.8", shop.storefront.get, "markets.json").status_code == 200


def test_keys_of_the_other_surface_count_as_unknown(shop, settings, django_assert_num_queries):
    settings.UNKNOWN_KEYS_PER_ADDRESS = 4
    public = shop.storefront.headers["X-Storefront-Key"]
    wrong = [ApiClient.admin(public, f"no-shop-{number}") for number in range(2)]
    wrong += [ApiClient.admin(public, shop.handle), ApiClient.storefront(shop.issue("admin"))]
    assert at("198.51.100.7", shop.storefront.get, "markets.json").status_code == 200

    first = [at("198.51.100.7", client.get, "markets.json") for client in wrong]
    with django_assert_num_queries(0):
        then = [at("198.51.100.7", client.get, "markets.json") for client in wrong]

    assert [problem(response) for response in first] == [(401, "unauthenticated")] * 4
    assert [problem(response) for response in then] == [(429, "rate_limited")] * 4
    # On its own surface the key goes on working, and so does the shop at other addresses.
    assert at("198.51.100.7", shop.storefront.get, "markets.json").status_code == 200
    assert at("198.51.100.8", shop.admin.get, "markets.json").status_code == 200


def test_handles_that_a_key_does_not_find_count_for_the_key_alone(shop, settings):
    settings.UNKNOWN_KEYS_PER_ADDRESS, settings.RATE_LIMIT_PER_KEY = 1, 3

    answers = [shop.workspace.get(f"no-shop-{number}/markets.json") for number in range(4)]

    assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
    assert headers(answers[3]) == ("3", "0", "40")
    assert shop.admin.get("markets.json").status_code == 200


def test_few_requests_of_many_addresses_are_kept_from_redis(shop, settings):
    settings.RATE_LIMIT_PER_ADDRESS = 5 * limits.LOCAL_PART
    for _ in range(5):
        at("198.51.100.7", shop.storefront.get, "markets.json")
    assert read_counts("address") == {}

    with time_machine.travel(NOW + timedelta(seconds=1), tick=False):
        sixth = at("198.51.100.7", shop.storefront.get, "markets.json")

    assert list(read_counts("address").values()) == [b"6"]
    assert headers(sixth)[:2] == ("25000", "24994")


def read_counts(kind):
    """Return the counts in Redis, by the name of the counter."""
    return {name: redis_client().get(name) for name in redis_client().scan_iter(f"limit:{kind}:*")}


def at(address, ask, *args):
    """Send requests from an address."""
    client = ask.__self__._client
    client.defaults["REMOTE_ADDR"] = address
    try:
        return ask(*args)
    finally:
        del client.defaults["REMOTE_ADDR"]


def test_limit_counts_refused_requests_too(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 2
    shop.admin.get("markets/1.json")
    shop.client_with().get("markets/1.json")

    assert headers(shop.admin.get("markets.json")) == ("2", "0", "40")


def test_redis_that_does_not_answer_is_left_alone_for_a_second(shop, monkeypatch, caplog):
    monkeypatch.setattr("commerce.rest.limits.client", unreachable)

    first = [shop.storefront.get("markets.json").status_code for _ in range(5)]
    asked = len(caplog.records)
    with time_machine.travel(NOW + timedelta(seconds=1), tick=False):
        later = shop.storefront.get("markets.json").status_code

    assert (first, later) == ([200] * 5, 200)
    assert (asked, len(caplog.records)) == (1, 2)


def test_limits_are_off_without_redis(shop, settings, monkeypatch, caplog):
    settings.RATE_LIMIT_PER_KEY = 1
    monkeypatch.setattr("commerce.rest.limits.client", unreachable)

    responses = [shop.admin.get("markets.json") for _ in range(3)]

    assert [response.status_code for response in responses] == [200] * 3
    assert headers(responses[0]) == (None, None, None)
    assert "Rate limits are off" in caplog.text


def unreachable():
    return redis.Redis(host="127.0.0.1", port=closed_port(), socket_connect_timeout=0.2, retry=None)


def test_counters_expire(shop, settings):
    settings.RATE_LIMIT_PER_KEY = 10
    shop.admin.get("markets.json")

    lives = [redis_client().ttl(name) for name in redis_client().scan_iter("limit:*")]

    assert len(lives) == 1
    assert 0 < lives[0] <= 120
