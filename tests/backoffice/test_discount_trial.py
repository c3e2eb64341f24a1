"""The page where staff try discounts on a cart: what each takes off, or why it takes nothing off."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from discounts.models import Discount, DiscountHold
from tests import factories
from tests.storefront import cart_with

PAGE = "checkouts/checkout/try-discounts/"


@pytest.fixture
def cart(shop):
    """Two books at 20.00, gross."""
    return cart_with(shop, (factories.make_variant(shop, price_cents=2000), 2))


def rows(page, table):
    """Return the rows of one of the page's tables, without markup."""
    (found,) = (shown for shown in page.context["tables"] if shown["title"].startswith(table))
    return [[" ".join(strip_tags(str(cell)).split()) for cell in row] for row in found["table"]["rows"]]


def test_discounts_are_tried_together(shop, support, cart):
    factories.make_discount(shop, title="Ten", code=None, stackable=True)
    factories.make_discount(shop, title="Five", code="FIVE", stackable=True, value_amount=500)
    factories.make_discount(
        shop, title="Freight", code=None, type="shipping_discount", applies_to="shipping", value_mode="free"
    )
    factories.make_discount(shop, title="Not entered", code="OTHER")

    page = support.get(PAGE, cart=cart, codes=" five ,nope", shipping_cents="4.90")

    assert rows(page, "Together") == [["€40.00", "€5.80", "€4.90"]]
    assert [row[:4] for row in rows(page, "Discounts")] == [
        ["Ten", "Automatic Discount", "-", "€4.00"],
        ["Five", "Discount Code", "FIVE", "€1.80"],
        ["Freight", "Shipping Discount", "-", "€4.90"],
    ]
    assert rows(page, "Unknown") == [["nope", "No discount has this code, apart from archived ones."]]
    with shop.scope():
        assert sum(Discount.objects.values_list("usage_count", flat=True)) == 0
        assert not DiscountHold.objects.exists()


def test_codes_apply_in_the_order_in_which_they_are_typed(shop, support, cart):
    factories.make_discount(shop, title="One", code="ONE")
    factories.make_discount(shop, title="Two", code="TWO")

    page = support.get(PAGE, cart=cart, codes="two,one")

    # Neither stacks, so the one that is entered last replaces the other, as in a checkout.
    assert [[row[0], row[3]] for row in rows(page, "Discounts")] == [["Two", "-"], ["One", "€4.00"]]


def test_codes_ignore_case_like_the_database(shop, support, cart):
    # Python makes SS of ß in capitals, PostgreSQL leaves it as it is.
    factories.make_discount(shop, title="Big", code="Groß")

    page = support.get(PAGE, cart=cart, codes="groß,GROSS")

    assert [[row[0], row[3]] for row in rows(page, "Discounts")] == [["Big", "€4.00"]]
    assert rows(page, "Unknown") == [["GROSS", "No discount has this code, apart from archived ones."]]


def test_what_takes_nothing_says_why(shop, support, cart):
    tomorrow = timezone.now() + timedelta(days=1)
    factories.make_discount(shop, title="Later", code=None, starts_at=tomorrow)
    factories.make_discount(shop, title="Off", code=None, status="disabled")
    factories.make_discount(shop, title="Big", code=None, minimum_order_subtotal_cents=4001)
    archived = factories.make_discount(shop, title="Old", code="OLD", status="archived")
    factories.make_discount(shop, title="Gone", code=None, status="archived")

    page = support.get(PAGE, cart=cart, discount=archived.pk)

    assert {row[0]: row[4] for row in rows(page, "Discounts")} == {
        "Later": f"The discount starts at {tomorrow.isoformat()}.",
        "Off": "The discount is disabled.",
        "Big": "The subtotal of €40.00 is below the minimum of €40.01.",
        "Old": "The discount is archived.",
    }


def test_email_is_whose_cart_it_is(shop, support, cart):
    factories.make_customer(shop, email="vip@example.com", tags=["vip"])
    factories.make_discount(
        shop, title="VIP", code=None, customer_eligibility="tagged", customer_tags=["vip"]
    )

    stranger = support.get(PAGE, cart=cart)
    vip = support.get(PAGE, cart=cart, email="vip@example.com")

    assert [row[3] for row in rows(stranger, "Discounts")] == ["-"]
    assert [row[3] for row in rows(vip, "Discounts")] == ["€4.00"]


def test_discounts_own_page_leads_here(shop, support, cart):
    discount = factories.make_discount(shop)

    answer = support.get(f"discounts/discount/{discount.pk}/try_on_cart/")

    assert (answer.status_code, answer["Location"]) == (302, f"/backoffice/{PAGE}?discount={discount.pk}")
    assert support.get(PAGE, discount=discount.pk).context["form"]["discount"].value() == str(discount.pk)


def test_page_opens_without_a_cart(support):
    page = support.get(PAGE)

    assert (page.status_code, page.context["tables"]) == (200, None)
    assert "Try</button>" in "".join(page.content.decode().split())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"cart": "nothing"}, "cart"),
        ({"cart": ""}, "cart"),
        ({"recent": "nothing"}, "recent"),
        ({"cart": "", "products": "MUG-1 2"}, "market"),
        ({"email": "nobody"}, "email"),
        ({"shipping_cents": "-1"}, "shipping_cents"),
        ({"discount": "0"}, "discount"),
    ],
)
def test_bad_field_is_told(support, cart, changes, field):
    page = support.get(PAGE, **{"cart": cart} | changes)

    assert (page.context["tables"], list(page.context["form"].errors)) == (None, [field])


def test_cart_is_picked_from_the_latest(shop, support, cart):
    factories.make_discount(shop, title="Ten", code=None)
    cart_with(shop)

    offered = support.get(PAGE).context["form"].fields["recent"].choices
    page = support.get(PAGE, recent=cart)

    # An empty cart isn't offered.
    assert [token for token, _name in offered] == ["", cart]
    assert rows(page, "Together") == [["€40.00", "€4.00", "€0.00"]]


@pytest.mark.parametrize(
    "typed", ["BOOK-1 2", "2 x BOOK-1", "BOOK-1 x 2", "BOOK-1\r\nBOOK-1", " BOOK-1   2 \n\n"]
)
def test_products_and_quantities_are_typed(shop, support, typed):
    factories.make_variant(shop, sku="BOOK-1", price_cents=2000)
    factories.make_discount(shop, title="Ten", code=None)

    page = support.get(PAGE, products=typed, market=shop.market.pk)

    assert rows(page, "Together") == [["€40.00", "€4.00", "€0.00"]]


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("MUG 1 2", "“MUG 1 2” isn't a SKU and a quantity."),
        ("BOOK-1 0", "A quantity must be from 1 to 9999."),
        ("BOOK-1 9999\nBOOK-1", "A quantity must be from 1 to 9999."),
        ("BOOK-1\nCUP", "Not on sale in this market: CUP."),
        ("FOREIGN", "Not on sale in this market: FOREIGN."),
        ("\n".join(f"S-{number}" for number in range(101)), "At most 100 products."),
    ],
)
def test_products_that_cannot_be_tried_are_told(shop, other_shop, support, typed, error):
    factories.make_variant(shop, sku="BOOK-1")
    factories.make_variant(other_shop, sku="FOREIGN")

    page = support.get(PAGE, products=typed, market=shop.market.pk)

    assert page.context["form"].errors == {"products": [error]}


def test_market_of_another_shop_is_refused(shop, other_shop, support):
    factories.make_variant(shop, sku="BOOK-1")

    page = support.get(PAGE, products="BOOK-1", market=other_shop.market.pk)

    assert list(page.context["form"].errors) == ["market"]


def test_empty_cart_and_one_of_another_shop_are_told(shop, other_shop, support):
    foreign = cart_with(other_shop, (factories.make_variant(other_shop), 1))

    for token, error in (
        (cart_with(shop), "The cart is empty."),
        (foreign, "This shop has no cart with this token."),
    ):
        assert support.get(PAGE, cart=token).context["form"].errors == {"cart": [error]}


@pytest.mark.parametrize("number", [1, 20])
def test_page_takes_a_fixed_number_of_statements(shop, support, cart, django_assert_max_num_queries, number):
    for _ in range(number):
        factories.make_discount(shop, usage_limit_per_customer=3)
    support.get(PAGE)

    with django_assert_max_num_queries(17):
        support.get(PAGE, cart=cart)
