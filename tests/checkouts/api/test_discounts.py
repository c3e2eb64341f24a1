"""POST checkouts/{token}/discount.json and DELETE checkouts/{token}/discount/{code}.json: codes and their effects."""

from datetime import timedelta

import pytest
from django.utils import timezone

from discounts.models import Discount
from tests import factories
from tests.storefront import ADDRESS, EMAIL, checkout_in, enter_checkout, take_step


@pytest.fixture
def variant(shop):
    factories.make_tax_rate(shop, 1900)
    return factories.make_variant(shop, price_cents=2000)


@pytest.fixture
def checkout(shop, variant):
    return enter_checkout(shop, (variant, 2))


def enter(shop, checkout, code):
    return shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})


def remove(shop, checkout, code):
    return shop.storefront.delete(f"checkouts/{checkout['token']}/discount/{code}.json")


def read(shop, checkout):
    return shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]


def without_time(checkout):
    return {name: value for name, value in checkout.items() if name != "updated_at"}


def test_code_lowers_price_and_tax(shop, checkout):
    discount = factories.make_discount(shop, code="Spring", value_amount=2500)

    answer = enter(shop, checkout, " sPRING ")

    assert answer.status_code == 200
    shown = answer.json()["checkout"]
    assert shown["phase"] == "pending"
    assert shown["discount_codes"] == [
        {
            "code": "Spring",
            "discount_id": str(discount.pk),
            "voucher_id": None,
            "type": "discount_code",
            "amount_cents": "1000",
        }
    ]
    totals = shown["totals"]
    assert (totals["subtotal_with_tax_cents"], totals["subtotal_without_tax_cents"]) == ("4000", "3361")
    assert (totals["discount_cents"], totals["tax_cents"]) == ("1000", "479")
    assert (totals["total_cents"], totals["amount_due_cents"]) == ("3000", "3000")
    assert shown["line_items"][0]["discount_cents"] == "1000"
    assert read(shop, checkout) == shown


def test_code_given_again_changes_nothing(shop, checkout):
    factories.make_discount(shop, code="SPRING")
    first = enter(shop, checkout, "SPRING").json()["checkout"]

    again = enter(shop, checkout, "spring")

    assert again.status_code == 200
    assert without_time(again.json()["checkout"]) == without_time(first)


def test_removed_code_leaves_the_earlier_totals(shop, checkout):
    factories.make_discount(shop, code="A", stackable=True, value_amount=3333)
    factories.make_discount(shop, code="B", stackable=True, value_amount=777)
    with_one = enter(shop, checkout, "A").json()["checkout"]
    enter(shop, checkout, "B")

    answer = remove(shop, checkout, "b")

    assert answer.status_code == 200
    assert without_time(answer.json()["checkout"]) == without_time(with_one)
    assert without_time(remove(shop, checkout, "A").json()["checkout"]) == without_time(checkout)


def test_code_that_is_not_applied_can_not_be_removed(shop, checkout):
    factories.make_discount(shop, code="SPRING")

    answer = remove(shop, checkout, "SPRING")

    assert (answer.status_code, answer.json()["code"]) == (404, "discount_not_applied")
    assert read(shop, checkout) == checkout


def test_stackable_codes_take_off_what_the_others_left(shop, checkout):
    factories.make_discount(shop, code="HALF", stackable=True, value_amount=5000)
    factories.make_discount(shop, code="HALVES", stackable=True, value_amount=5000)

    enter(shop, checkout, "HALF")
    shown = enter(shop, checkout, "HALVES").json()["checkout"]

    assert [entry["amount_cents"] for entry in shown["discount_codes"]] == ["2000", "1000"]
    assert (shown["totals"]["discount_cents"], shown["totals"]["total_cents"]) == ("3000", "1000")


@pytest.mark.parametrize("order", [("ALONE", "STACKS"), ("STACKS", "ALONE")])
def test_code_that_does_not_stack_replaces_and_is_replaced(shop, checkout, order):
    factories.make_discount(shop, code="ALONE", stackable=False)
    factories.make_discount(shop, code="STACKS", stackable=True)

    enter(shop, checkout, order[0])
    shown = enter(shop, checkout, order[1]).json()["checkout"]

    assert [entry["code"] for entry in shown["discount_codes"]] == [order[1]]
    assert shown["totals"]["discount_cents"] == "400"


YESTERDAY, TOMORROW = timezone.now() - timedelta(days=1), timezone.now() + timedelta(days=1)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": "disabled"}, "discount_not_active"),
        ({"status": "archived"}, "discount_not_active"),
        ({"starts_at": TOMORROW}, "discount_not_started"),
        ({"ends_at": YESTERDAY}, "discount_expired"),
        ({"market_ids": [999_999]}, "market_mismatch"),
        ({"customer_eligibility": "tagged", "customer_tags": ["vip"]}, "customer_not_eligible"),
        ({"customer_eligibility": "specific", "customer_ids": [999_999]}, "customer_not_eligible"),
        ({"minimum_order_subtotal_cents": 4001}, "minimum_not_met"),
        ({"usage_limit_total": 3, "usage_count": 3}, "usage_limit_reached"),
        (
            {"applies_to": "line_items", "product_ids": [999_999]},
            "discount_not_applicable",
        ),
    ],
)
def test_discount_that_does_not_hold_is_refused(shop, checkout, fields, code):
    factories.make_discount(shop, code="SPRING", **fields)

    answer = enter(shop, checkout, "SPRING")

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert read(shop, checkout) == checkout


def test_discount_in_another_currency_is_refused(shop, checkout):
    factories.make_discount(shop, code="CZK", value_mode="fixed_amount", value_amount=100, currency="CZK")

    answer = enter(shop, checkout, "CZK")

    assert (answer.status_code, answer.json()["code"]) == (409, "currency_mismatch")
    assert read(shop, checkout) == checkout


@pytest.mark.parametrize("code", ["NOPE", "AAAA-BBBB-CCCC-DDDD", "%", "a/b", "ÄÖ"])
def test_unknown_code_is_refused(shop, other_shop, checkout, code):
    factories.make_discount(other_shop, code="NOPE")

    answer = enter(shop, checkout, code)

    assert (answer.status_code, answer.json()["code"]) == (422, "discount_not_found")
    assert read(shop, checkout) == checkout


@pytest.mark.parametrize(
    "body", [{}, {"code": ""}, {"code": 7}, {"code": None}, {"code": "x" * 65}, {"code": "\0"}]
)
def test_code_that_is_none_is_refused(shop, checkout, body):
    answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "code")


def test_archived_discount_gives_its_code_to_a_live_one(shop, checkout):
    factories.make_discount(shop, code="SPRING", status="archived")
    live = factories.make_discount(shop, code="spring")
    factories.make_discount(shop, code="Spring", status="archived")

    shown = enter(shop, checkout, "SPRING").json()["checkout"]

    assert shown["discount_codes"][0]["discount_id"] == str(live.pk)


@pytest.mark.parametrize("phase", ["payment", "processing", "completed"])
def test_codes_wait_for_no_payment(shop, phase):
    factories.make_discount(shop, code="SPRING")
    checkout = checkout_in(phase, shop, (factories.make_variant(shop), 1))

    entered, removed = enter(shop, checkout, "SPRING"), remove(shop, checkout, "SPRING")

    for answer in (entered, removed):
        assert (answer.status_code, answer.json()["code"], answer.json()["phase"]) == (
            409,
            "invalid_phase",
            phase,
        )
        assert answer.json()["allowed"] == ["pending", "address", "shipping"]
    assert read(shop, checkout)["discount_codes"] == []


def test_automatic_discount_applies_from_the_start(shop, variant):
    discount = factories.make_discount(shop, code=None, title="Big orders", minimum_order_subtotal_cents=4000)

    small, big = enter_checkout(shop, (variant, 1)), enter_checkout(shop, (variant, 2))

    assert (small["automatic_discounts"], small["totals"]["total_cents"]) == ([], "2000")
    assert big["automatic_discounts"] == [
        {
            "discount_id": str(discount.pk),
            "title": "Big orders",
            "type": "automatic_discount",
            "amount_cents": "400",
        }
    ]
    assert (big["totals"]["discount_cents"], big["totals"]["total_cents"]) == ("400", "3600")
    assert big["line_items"][0]["discount_cents"] == "400"


def test_automatic_discounts_stand_beside_a_code_that_does_not_stack_only_when_they_stack(shop, variant):
    stacks = factories.make_discount(shop, code=None, stackable=True)
    factories.make_discount(shop, code=None, stackable=False)
    factories.make_discount(shop, code="ALONE", stackable=False)
    checkout = enter_checkout(shop, (variant, 2))

    shown = enter(shop, checkout, "ALONE").json()["checkout"]

    assert len(checkout["automatic_discounts"]) == 2
    assert [entry["discount_id"] for entry in shown["automatic_discounts"]] == [str(stacks.pk)]
    assert remove(shop, checkout, "ALONE").json()["checkout"]["totals"] == checkout["totals"]


def test_discounts_follow_the_email_of_the_address(shop, checkout):
    customer = factories.make_customer(shop, email="vip@example.com", tags=["vip"])
    factories.make_discount(
        shop, code=None, customer_eligibility="specific", customer_ids=[customer.pk], title="Yours"
    )
    factories.make_discount(
        shop, code=None, customer_eligibility="tagged", customer_tags=["vip"], title="VIP"
    )
    path = f"checkouts/{checkout['token']}/address.json"
    body = {"shipping_address": ADDRESS, "same_as_shipping": True}

    theirs = shop.storefront.put(path, body | {"email": " VIP@example.com"}).json()["checkout"]
    others = shop.storefront.put(path, body | {"email": EMAIL}).json()["checkout"]

    assert [entry["title"] for entry in theirs["automatic_discounts"]] == ["Yours", "VIP"]
    assert theirs["totals"]["discount_cents"] == "760"
    assert others["totals"] == checkout["totals"]


def test_code_for_a_segment_asks_its_filter(shop, checkout):
    segment = shop.admin.post(
        "segments.json",
        {
            "handle": "vips",
            "name": "VIPs",
            "filter": {"all": [{"field": "tag", "op": "eq", "value": "vip"}]},
        },
    ).json()["segment"]
    factories.make_discount(
        shop, code="VIP", customer_eligibility="segments", segment_ids=[int(segment["id"])]
    )
    refused = enter(shop, checkout, "VIP")
    factories.make_customer(shop, email=EMAIL, tags=["vip"])

    taken = enter(shop, checkout, "VIP")

    assert (refused.status_code, refused.json()["code"]) == (422, "customer_not_eligible")
    assert taken.json()["checkout"]["totals"]["discount_cents"] == "400"


def test_shipping_code_waits_for_the_method(shop, variant):
    rate = factories.make_rate(shop, price_cents=595)
    factories.make_discount(
        shop, code="FREIGHT", type="shipping_discount", applies_to="shipping", value_mode="free"
    )
    checkout = enter_checkout(shop, (variant, 1))

    entered = enter(shop, checkout, "FREIGHT").json()["checkout"]
    take_step("address", shop, checkout["token"], rate=rate)
    shipped = take_step("shipping", shop, checkout["token"], rate=rate)

    assert entered["discount_codes"][0]["amount_cents"] == "0"
    assert shipped["discount_codes"][0]["amount_cents"] == "595"
    totals = shipped["totals"]
    assert (totals["shipping_cents"], totals["shipping_discount_cents"]) == ("0", "595")
    assert (totals["shipping_tax_cents"], totals["discount_cents"], totals["total_cents"]) == (
        "0",
        "0",
        "2000",
    )


def test_discount_of_first_orders_is_for_first_orders(shop, variant):
    rate = factories.make_rate(shop)
    factories.make_discount(shop, code="WELCOME", first_order_only=True)
    checkout_in("completed", shop, (variant, 1), rate=rate)
    checkout = enter_checkout(shop, (variant, 1))

    refused = enter(shop, checkout, "WELCOME")

    assert (refused.status_code, refused.json()["code"]) == (422, "customer_not_eligible")


def test_discount_changed_after_the_choice_of_payment_changes_no_total(shop, variant):
    rate = factories.make_rate(shop)
    discount = factories.make_discount(shop, code="SPRING")
    checkout = enter_checkout(shop, (variant, 2))
    enter(shop, checkout, "SPRING")
    for step in ("address", "shipping", "payment"):
        frozen = take_step(step, shop, checkout["token"], rate=rate)
    with shop.scope():
        Discount.objects.filter(pk=discount.pk).update(status="archived", value_amount=1)

    transfer = take_step("payment", shop, checkout["token"], rate=rate, payment_method="bank_transfer")
    for step in ("processing", "ready", "completed"):
        completed = take_step(step, shop, checkout["token"], rate=rate)

    assert frozen["totals"]["discount_cents"] == "400"
    assert transfer["totals"]["discount_cents"] == completed["totals"]["discount_cents"] == "400"
    assert completed["discount_codes"] == frozen["discount_codes"]


@pytest.mark.parametrize("number_of_lines", [1, 100])
def test_repricing_runs_a_fixed_number_of_statements(shop, django_assert_num_queries, number_of_lines):
    product = factories.make_product(shop)
    variants = [factories.make_variant(shop, product=product) for _ in range(number_of_lines)]
    for _ in range(50):
        factories.make_discount(shop, code=None, stackable=True, value_amount=10, usage_limit_per_customer=9)
    factories.make_discount(shop, code="SPRING", stackable=True)
    checkout = enter_checkout(shop, *((variant, 1) for variant in variants))

    # The scope with its savepoint 4; checkout, lines, code, rules, history, the lines' shares, checkout.
    with django_assert_num_queries(4 + 6):
        answer = enter(shop, checkout, "SPRING")

    assert len(answer.json()["checkout"]["automatic_discounts"]) == 50
