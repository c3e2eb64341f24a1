"""markets.json: the markets of an account."""

import pytest

from accounts.models import Market
from tests.problems import field_errors, problem
from tests.threads import run_threads

AUSTRIA = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}


def handles(shop):
    with shop.scope():
        return list(Market.objects.order_by("pk").values_list("handle", flat=True))


def test_create_answers_the_whole_market(shop):
    response = shop.admin.post(
        "markets.json", AUSTRIA | {"domain": "AT.Example.com", "prices_include_tax": False}
    )

    market = response.json()["market"]
    assert response.status_code == 201
    assert market.pop("id").isdigit()
    assert market.pop("created_at").endswith("Z")
    assert market.pop("updated_at").endswith("Z")
    assert market == AUSTRIA | {"domain": "at.example.com", "prices_include_tax": False, "status": "active"}


def test_create_fills_in_what_is_not_given(shop):
    market = shop.admin.post("markets.json", AUSTRIA).json()["market"]

    assert (market["domain"], market["prices_include_tax"]) == (None, True)


def test_create_of_the_same_surface_is_refused_where_domains_are_null_too(shop):
    surface = {
        "handle": "de-2",
        "name": "Germany",
        "currency": "EUR",
        "locale": "de-DE",
        "country_code": "DE",
    }

    assert problem(shop.admin.post("markets.json", surface)) == (409, "market_exists")
    assert problem(shop.admin.post("markets.json", surface | {"domain": None})) == (409, "market_exists")
    assert handles(shop) == ["de"]


def test_create_of_the_same_surface_under_a_domain_is_another_market(shop):
    surface = {
        "handle": "de-2",
        "name": "Germany",
        "currency": "EUR",
        "locale": "de-DE",
        "country_code": "DE",
    }

    assert shop.admin.post("markets.json", surface | {"domain": "de.example.com"}).status_code == 201


def test_create_with_a_taken_handle_is_refused(shop):
    assert problem(shop.admin.post("markets.json", AUSTRIA | {"handle": "de"})) == (409, "handle_taken")
    assert handles(shop) == ["de"]


def test_markets_of_one_account_share_a_domain(shop):
    swiss = AUSTRIA | {"handle": "ch", "currency": "CHF", "domain": "Tea.Example.COM"}

    answers = [
        shop.admin.post("markets.json", body) for body in (AUSTRIA | {"domain": "tea.example.com"}, swiss)
    ]

    assert [answer.json()["market"]["domain"] for answer in answers] == ["tea.example.com"] * 2


def test_domain_that_another_account_names_stays_free(shop, other_shop):
    theirs = other_shop.admin.post("markets.json", AUSTRIA | {"domain": "tea.example.com"})

    created = shop.admin.post("markets.json", AUSTRIA | {"domain": "tea.example.com"})
    updated = shop.admin.put(f"markets/{shop.market.pk}.json", {"domain": "tea.example.com"})

    assert [answer.status_code for answer in (theirs, created, updated)] == [201, 201, 200]


def test_create_with_the_surface_and_handle_of_another_account_is_done(shop, other_shop):
    other_shop.admin.post("markets.json", AUSTRIA)

    assert shop.admin.post("markets.json", AUSTRIA).status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("handle", "A", "invalid_handle"),
        ("name", "x" * 201, "max_length"),
        ("currency", "EU", "unknown_currency"),
        ("locale", "de_DE", "invalid_locale"),
        ("country_code", "EU", "unknown_country"),
        ("domain", "localhost", "invalid_domain"),
        ("domain", "https://example.com", "invalid_domain"),
        ("domain", "example.com/path", "invalid_domain"),
        ("domain", "-a.example.com", "invalid_domain"),
        ("domain", "a" * 64 + ".com", "invalid_domain"),
        ("domain", "", "blank"),
        ("prices_include_tax", "true", "invalid"),
        ("prices_include_tax", None, "null"),
    ],
)
def test_create_with_a_bad_field_is_refused(shop, field, value, code):
    assert field_errors(shop.admin.post("markets.json", AUSTRIA | {field: value})) == {(field, code)}
    assert handles(shop) == ["de"]


def test_create_takes_codes_in_small_letters(shop):
    market = shop.admin.post("markets.json", AUSTRIA | {"currency": "eur", "country_code": "at"}).json()[
        "market"
    ]

    assert (market["currency"], market["country_code"]) == ("EUR", "AT")


@pytest.mark.django_db(transaction=True)
def test_creates_at_once_of_one_surface_are_done_once(shop):
    def create(index):
        return shop.admin.post("markets.json", AUSTRIA | {"handle": f"at-{index}"})

    responses = run_threads(6, create)

    assert sorted(response.status_code for response in responses) == [201, 409, 409, 409, 409, 409]
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {
        "market_exists"
    }


def test_list_shows_the_accounts_markets_newest_first(shop, other_shop):
    shop.admin.post("markets.json", AUSTRIA)

    answer = shop.admin.get("markets.json").json()

    assert [market["handle"] for market in answer["markets"]] == ["at", "de"]
    assert answer["next_cursor_id"] is None


def test_list_of_the_storefront_shows_open_markets_alone(shop):
    made = shop.admin.post("markets.json", AUSTRIA).json()["market"]
    shop.admin.delete(f"markets/{made['id']}.json")

    answer = shop.storefront.get("markets.json").json()

    assert [market["handle"] for market in answer["markets"]] == ["de"]
    assert answer["markets"][0] == shop.admin.get(f"markets/{shop.market.pk}.json").json()["market"]


def test_update_changes_what_was_sent(shop):
    path = f"markets/{shop.market.pk}.json"
    before = shop.admin.get(path).json()["market"]

    after = shop.admin.put(path, {"name": "Deutschland", "domain": "de.example.com"}).json()["market"]

    assert after == before | {
        "name": "Deutschland",
        "domain": "de.example.com",
        "updated_at": after["updated_at"],
    }
    assert after["updated_at"] > before["updated_at"]
    assert shop.admin.get(path).json()["market"] == after


def test_update_opens_a_closed_market_again(shop):
    path = f"markets/{shop.market.pk}.json"
    shop.admin.delete(path)

    assert shop.admin.put(path, {"status": "active"}).json()["market"]["status"] == "active"
    assert field_errors(shop.admin.put(path, {"status": "closed"})) == {("status", "invalid_choice")}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"handle": "at"}, "handle_taken"),
        ({"locale": "de-AT", "country_code": "AT"}, "market_exists"),
        (
            {"locale": "de-AT", "country_code": "AT", "currency": "CHF", "domain": "at.example.com"},
            "market_exists",
        ),
    ],
)
def test_update_into_another_markets_place_is_refused_and_changes_nothing(shop, changes, code):
    shop.admin.post("markets.json", AUSTRIA)
    shop.admin.post(
        "markets.json", AUSTRIA | {"handle": "at-2", "currency": "CHF", "domain": "at.example.com"}
    )
    path = f"markets/{shop.market.pk}.json"
    before = shop.admin.get(path).json()

    assert problem(shop.admin.put(path, changes)) == (409, code)
    assert shop.admin.get(path).json() == before


def test_delete_closes_the_market_and_answers_the_same_again(shop):
    path = f"markets/{shop.market.pk}.json"

    first, second = shop.admin.delete(path), shop.admin.delete(path)

    assert (first.status_code, first.json()["market"]["status"]) == (200, "inactive")
    assert second.json() == first.json()
    assert shop.admin.get(path).json() == first.json()
