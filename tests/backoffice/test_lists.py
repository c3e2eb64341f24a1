"""Lists take a fixed number of statements, can be searched, and sort by every column."""

import pytest
from django.contrib import admin
from django.db.models import DateField

from accounts.models import ApiKey, Market, StaffInvitation, StaffMembership
from carts.models import Cart
from checkouts.models import Checkout
from commerce.backoffice.models import StaffAction
from commerce.configuration.models import AccountSetting
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.taxes.models import TaxRate
from commerce.tenancy.models import AccountOwned
from discounts.models import DiscountRedemption
from emails.models import EmailTemplateVersion, SenderDomain
from shipping.models import PickupPoint, ShippingZone
from tests import factories
from tests.backoffice.clients import make_staff
from tests.rows import make_row

ROW_MODELS = sorted(
    (
        model
        for model in admin.site._registry
        if issubclass(model, AccountOwned) and model not in {AccountSetting, EmailTemplateVersion}
    ),
    key=lambda model: model._meta.label,
)

DATED = [model for model in ROW_MODELS if any(isinstance(field, DateField) for field in model._meta.fields)]

# Session, user, membership, time zone, the scope's four (savepoint, setting and their ends), count, rows, tasks of the
# sidebar, and saved filters.
STATEMENTS = 12
# These load the choices of a filter: markets, locations, tax classes, members, roles.
WITH_FILTER = {StaffAction, Cart, Checkout, InventoryLevel, Order, ShippingZone, StaffInvitation, TaxRate}
# This one loads the shop's sender address.
WITH_ONE_MORE = WITH_FILTER | {SenderDomain}


def path_of(model):
    return f"{model._meta.app_label}/{model._meta.model_name}/"


def add_row(model, shop):
    if model is InventoryLevel:
        return factories.set_stock(shop, factories.make_variant(shop, stock=None), 1)
    if model is Checkout:
        return make_row(model, cart_id=factories.make_cart(shop).pk)
    if model is DiscountRedemption:
        return make_row(model, order_id=make_row(Order).pk)
    return make_row(model)


@pytest.mark.parametrize("model", ROW_MODELS, ids=lambda model: model._meta.label)
def test_list_takes_a_fixed_number_of_statements(shop, owner, model, django_assert_num_queries):
    expected = STATEMENTS + (model in WITH_ONE_MORE)
    owner.get()

    for more in (1, 2):
        with shop.scope():
            for _ in range(more):
                add_row(model, shop)
        with django_assert_num_queries(expected):
            page = owner.get(path_of(model))

    assert page.context["cl"].result_count >= 3


def test_list_of_keys_takes_a_fixed_number_of_statements(shop, owner, django_assert_num_queries):
    owner.get()
    for more in (1, 2):
        for _ in range(more):
            shop.issue("admin")
        with django_assert_num_queries(STATEMENTS):
            owner.get(path_of(ApiKey))


def test_list_of_staff_takes_a_fixed_number_of_statements(shop, owner, django_assert_num_queries):
    owner.get()
    for more in (1, 2):
        for _ in range(more):
            make_staff(shop)
        # One more for the roles of the filter.
        with django_assert_num_queries(STATEMENTS + 1):
            owner.get(path_of(StaffMembership))


def test_overview_takes_a_fixed_number_of_statements(shop, owner, django_assert_num_queries):
    owner.get()
    for more in (1, 2):
        with shop.scope():
            for _ in range(more):
                make_row(Order)
        # The account, sales, markets and latest orders take one each, tasks seven, figures of carts four, of checkouts
        # three and of emails two, and the emails' charts two.
        with django_assert_num_queries(STATEMENTS - 3 + 22):
            owner.get()


@pytest.mark.parametrize("model", ROW_MODELS, ids=lambda model: model._meta.label)
def test_list_sorts_by_every_column_and_searches(shop, owner, model):
    with shop.scope():
        add_row(model, shop)
    columns = range(1, len(admin.site._registry[model].list_display) + 1)

    page = owner.get(path_of(model), o=".".join(map(str, columns)))
    searched = owner.get(path_of(model), q="nothing-has-this")

    assert page.status_code == 200
    assert searched.context["cl"].result_count == 0


def test_order_by_a_column_with_thousands_of_digits_is_left_out(owner):
    page = owner.get(path_of(Order), o="9" * 5000)

    assert page.status_code == 200


def test_pickup_points_are_the_same_in_every_shop(shop, other_shop, staff_of):
    point = factories.make_pickup_point(zip="101 15", normalised_zip="10115")
    clients = [staff_of(shop), staff_of(other_shop)]

    pages = [client.get(path_of(PickupPoint), q="101") for client in clients]

    assert [[row.pk for row in page.context["cl"].result_list] for page in pages] == [[point.pk]] * 2


def test_order_is_found_by_its_number(shop, owner):
    with shop.scope():
        first = make_row(Order, number=1001)
        make_row(Order, number=11001)

    page = owner.get(path_of(Order), q="#1001")

    assert [row.pk for row in page.context["cl"].result_list] == [first.pk]


def test_amounts_are_shown_in_the_rows_currency(shop, owner):
    with shop.scope():
        market = make_row(Market)
        totals = {"subtotal_with_tax_cents": 1990, "total_cents": 1990, "amount_due_cents": 1990}
        for currency in ("EUR", "JPY"):
            make_row(Order, market=market, currency=currency, prices_include_tax=True, **totals)

    page = owner.get(path_of(Order))

    assert "€19.90" in page.content.decode()
    assert "¥1,990" in page.content.decode()


@pytest.mark.parametrize(
    "query", [{"status__exact": "\0"}, {"status__exact": "nonsense"}, {"p": "x"}, {"q": "\0"}]
)
def test_list_takes_any_query(shop, owner, query):
    answer = owner.get("catalog/product/", **query)

    assert answer.status_code in {200, 302, 422}


ODD_DATES = {
    "year": ("99999999", "0", "-1", "9" * 30, "x"),
    "iso_year": ("99999999", "0", "9" * 30),
    "month": ("99999999999", "x"),
    "day": ("9" * 30, "x"),
    "week_day": ("9" * 30, "-9" + "9" * 18),
    "hour": ("9" * 30,),
    "date": ("99999-01-01", "0000-00-00"),
    "gte": ("9999999-1-1", "9999-12-31T23:59:59-23:59", "0001-01-01 00:00:00+14:00"),
    "year__gte": ("99999999", "10000"),
    "date__year": ("99999999",),
}


@pytest.mark.parametrize("part", ODD_DATES)
def test_list_takes_no_date_for_a_bug(shop, owner, part):
    answers = [owner.get("orders/order/", **{f"placed_at__{part}": value}) for value in ODD_DATES[part]]

    assert {answer.status_code for answer in answers} <= {200, 302, 422}


@pytest.mark.parametrize("model", DATED, ids=lambda model: model._meta.label)
def test_list_refuses_a_year_that_no_date_has(shop, owner, model):
    name = next(field.name for field in model._meta.fields if isinstance(field, DateField))

    answer = owner.get(path_of(model), **{f"{name}__year": "99999999"})

    assert (answer.status_code, answer.headers.get("Location")) == (302, f"/backoffice/{path_of(model)}?e=1")
