"""The page where staff see what a customer is offered, and why nothing else."""

import pytest
from django.utils.html import strip_tags

from shipping.models import ShippingRate
from tests import factories

PAGE = "shipping/shippingzone/test/"
PARCEL = {
    "country_code": "DE",
    "zip": "10115",
    "weight_grams": "1200",
    "subtotal_cents": "20.00",
    "quantity": "2",
    "currency": "",
}


def ask(client, shop, **changes):
    return client.get(PAGE, **{"market": shop.market.pk} | PARCEL | changes)


def read_tables(page):
    """Return the rows of each of the page's tables, without markup."""
    tables = [table["table"]["rows"] for table in page.context["tables"]]
    return [[[" ".join(strip_tags(str(cell)).split()) for cell in row] for row in rows] for rows in tables]


def test_page_opens_with_the_first_markets_country(shop, support):
    page = support.get(PAGE)

    assert page.status_code == 200
    assert page.context["form"]["country_code"].value() == "DE"
    assert page.context["tables"] is None
    assert "Show offers" in page.content.decode()


@pytest.mark.parametrize("path", ["shipping/shippingzone/", "shipping/shippingmethod/"])
def test_lists_have_a_button_that_leads_to_the_page(support, path):
    answer = support.get(path)

    assert f'href="/backoffice/{path}test/"' in answer.content.decode()
    assert support.get(f"{path}test/").status_code == 200


def test_sidebar_marks_the_page_alone(support):
    page = support.get(PAGE)

    items = [item for group in page.context["sidebar_navigation"] for item in group["items"]]
    assert [item["title"] for item in items if item["active"]] == ["Test an address"]


def test_offers_and_reasons_are_shown(shop, support):
    zone = factories.make_zone(shop, name="Germany")
    method = factories.make_method(
        shop, zone=zone, name="Parcel", estimated_days_min=1, estimated_days_max=3, cod_fee_cents=150
    )
    factories.make_rate(shop, method=method, display_name="Up to 5 kg")
    factories.make_rate(shop, method=method, price_cents=590)
    locker = factories.make_method(
        shop,
        zone=zone,
        name="Locker",
        is_cod_compatible=False,
        requires_pickup_point=True,
        estimated_days_max=2,
    )
    factories.make_rate(shop, method=locker, price_cents=1000)
    factories.make_rate(shop, method=locker, price_cents=1500, min_weight_grams=5000, display_name="Heavy")
    factories.make_method(shop, zone=factories.make_zone(shop, name="Hamburg", zip_patterns=["2*"]))

    page = ask(support, shop)

    assert read_tables(page) == [
        [
            ["€4.90 Best", "Parcel", "Up to 5 kg", "Germany", "1 to 3", "+ €1.50", "-"],
            ["€5.90", "Parcel", "-", "Germany", "1 to 3", "+ €1.50", "-"],
            ["€10.00 Best", "Locker", "-", "Germany", "2", "No", "Required"],
        ],
        [["Germany", "Locker", "€15.00 Heavy", "From 5 kg; the parcel weighs 1.2 kg."]],
        [["Hamburg", "1", "None of the zone's patterns matches 10115."]],
    ]


def test_names_are_escaped(shop, support):
    factories.make_rate(shop, method=factories.make_method(shop, name="<script>alert(1)</script>"))

    page = ask(support, shop)

    assert b"<script>alert(1)" not in page.content
    assert b"&lt;script&gt;alert(1)" in page.content


def test_another_currency_than_the_markets_may_be_asked_for(shop, support):
    rate = factories.make_rate(shop, currency="CZK", price_cents=12300)

    offers, refused, _ = read_tables(ask(support, shop, currency="CZK"))
    no_offers, refused_in_euro, _ = read_tables(ask(support, shop))

    assert ([row[:2] for row in offers], refused) == ([["CZK123.00 Best", rate.method.name]], [])
    assert (no_offers, [row[-1] for row in refused_in_euro]) == ([], ["The price is in CZK, not EUR."])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("market", ""),
        ("market", "x"),
        ("market", "9" * 30),
        ("country_code", "EU"),
        ("country_code", ""),
        ("zip", "1" * 33),
        ("zip", "\0"),
        ("weight_grams", "-1"),
        ("weight_grams", str(2**53)),
        ("weight_grams", "1.5"),
        ("subtotal_cents", ""),
        ("quantity", "0"),
        ("currency", "XXX"),
    ],
)
def test_bad_input_is_shown_at_its_field(shop, support, field, value):
    page = ask(support, shop, **{field: value})

    assert page.status_code == 200
    assert list(page.context["form"].errors) == [field]
    assert page.context["tables"] is None


def test_foreign_market_is_refused_and_foreign_rows_are_not_shown(shop, other_shop, support):
    factories.make_rate(other_shop)
    factories.make_zone(other_shop, country_codes=["AT"])

    assert list(ask(support, other_shop).context["form"].errors) == ["market"]
    assert read_tables(ask(support, shop)) == [[], [], []]


def test_free_method_is_shown_without_a_rate_being_made(shop, support):
    factories.make_method(shop, rate_mode="free", name="Gift")

    page = ask(support, shop)

    assert [row[:2] for row in read_tables(page)[0]] == [["€0.00 Best", "Gift"]]
    with shop.scope():
        assert not ShippingRate.objects.exists()


def test_page_takes_a_fixed_number_of_statements(shop, support, django_assert_num_queries):
    support.get()

    for more in (1, 3):
        for _ in range(more):
            factories.make_rate(shop)
            factories.make_zone(shop, market=shop.market, zip_patterns=["2*"])
        # Session, user, membership, time zone, the scope's four, the markets, zones and rates, and the tasks of the sidebar.
        with django_assert_num_queries(12):
            page = ask(support, shop)

    assert [len(rows) for rows in read_tables(page)] == [4, 0, 4]


def test_page_of_a_large_account_shows_the_first_hundred_of_each(shop, support):
    with shop.scope():
        zone = factories.make_zone(shop)
        for _ in range(101):
            method = factories.make_method(shop, zone=zone)
            factories.make_rate(shop, method=method)
            factories.make_rate(shop, method=method, currency="CZK")
            factories.make_zone(shop, country_codes=["AT"])

    page = ask(support, shop)

    assert [len(rows) for rows in read_tables(page)] == [100, 100, 100]
    assert page.content.decode().count("and 1 more") == 3
