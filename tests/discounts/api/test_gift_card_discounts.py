"""Discounts of type `gift_card`: each issues a voucher, which pays at checkout like any other."""

import pytest

from commerce.events.models import Event
from discounts.models import Discount, Voucher, VoucherRedemption
from tests import factories
from tests.storefront import checkout_in, enter_checkout

GIFT_CARD = {
    "type": "gift_card",
    "title": "Christmas",
    "value_mode": "fixed_amount",
    "value_amount": 2500,
    "currency": "EUR",
}


def issue(shop, **fields):
    answer = shop.admin.post("discounts.json", GIFT_CARD | fields)
    assert answer.status_code == 201, answer.content
    return answer.json()["discount"]


def test_gift_card_issues_a_voucher_of_its_value(shop):
    discount = issue(shop, ends_at="2100-01-01T00:00:00Z")

    with shop.scope():
        voucher, entry = Voucher.objects.get(), VoucherRedemption.objects.get()
        event = Event.objects.get(type="voucher.issued")
    assert (discount["code"], discount["voucher_id"]) == (voucher.code, str(voucher.pk))
    assert (discount["effective_status"], discount["usage_count"]) == ("active", 0)
    assert (voucher.initial_balance_cents, voucher.balance_cents, voucher.currency) == (2500, 2500, "EUR")
    assert voucher.expires_at.isoformat() == "2100-01-01T00:00:00+00:00"
    assert (entry.kind, entry.amount_cents, entry.actor[:4]) == ("issue", 2500, "key:")
    assert event.data["voucher_id"] == str(voucher.pk)
    assert shop.admin.get(f"discounts/{discount['id']}.json").json()["discount"] == discount


def test_repeated_request_issues_one_voucher(shop):
    answers = [shop.admin.post("discounts.json", GIFT_CARD, idempotency_key="christmas") for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    with shop.scope():
        assert (Discount.objects.count(), Voucher.objects.count()) == (1, 1)


def test_gift_card_pays_at_checkout_and_lowers_no_price(shop):
    discount = issue(shop)
    checkout = enter_checkout(shop, (factories.make_variant(shop, price_cents=4000), 1))

    entered = shop.storefront.post(
        f"checkouts/{checkout['token']}/discount.json", {"code": discount["code"].lower().replace("-", "")}
    ).json()["checkout"]

    assert entered["discount_codes"] == [
        {
            "code": discount["code"],
            "discount_id": None,
            "voucher_id": discount["voucher_id"],
            "type": "gift_card",
            "amount_cents": "2500",
        }
    ]
    assert entered["automatic_discounts"] == []
    amounts = {
        name: entered["totals"][name] for name in ("total_cents", "gift_card_cents", "amount_due_cents")
    }
    assert amounts == {"total_cents": "4000", "gift_card_cents": "2500", "amount_due_cents": "1500"}


def test_gift_card_never_applies_by_itself(shop):
    issue(shop)

    completed = checkout_in("completed", shop, (factories.make_variant(shop, price_cents=4000), 1))

    assert (completed["discount_codes"], completed["automatic_discounts"]) == ([], [])
    assert completed["totals"]["gift_card_cents"] == "0"


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"value_mode": None}, "value_mode", "required"),
        ({"value_mode": "percentage"}, "value_mode", "not_allowed"),
        ({"value_amount": None}, "value_amount", "required"),
        ({"value_amount": 0}, "value_amount", "min_value"),
        ({"currency": None}, "currency", "required"),
        ({"code": "MINE"}, "code", "not_allowed"),
        ({"usage_limit_total": 1}, "usage_limit_total", "not_allowed"),
        ({"first_order_only": True}, "first_order_only", "not_allowed"),
        ({"minimum_order_subtotal_cents": 1}, "minimum_order_subtotal_cents", "not_allowed"),
        ({"applies_to": "shipping"}, "applies_to", "not_allowed"),
        ({"starts_at": "2100-01-01T00:00:00Z"}, "starts_at", "not_allowed"),
        ({"status": "disabled"}, "status", "not_allowed"),
        ({"ends_at": "2001-01-01T00:00:00Z"}, "expires_at", "in_the_past"),
    ],
)
def test_gift_card_that_makes_no_sense_is_refused(shop, changes, field, code):
    answer = shop.admin.post("discounts.json", GIFT_CARD | changes)

    assert answer.status_code == 422
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [(field, code)]
    with shop.scope():
        assert (Discount.objects.count(), Voucher.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"value_amount": 99_999},
        {"value_mode": "free"},
        {"currency": "CZK"},
        {"code": "MINE"},
        {"code": None},
        {"ends_at": "2100-01-01T00:00:00Z"},
        {"type": "discount_code"},
    ],
)
def test_what_a_gift_card_was_issued_with_can_not_change(shop, changes):
    discount = issue(shop)

    answer = shop.admin.put(f"discounts/{discount['id']}.json", {"title": "New"} | changes)

    assert answer.status_code == 422
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [
        (next(iter(changes)), "can_not_change")
    ]
    assert shop.admin.get(f"discounts/{discount['id']}.json").json()["discount"] == discount


def test_title_of_a_gift_card_changes_and_its_own_values_may_be_sent_back(shop):
    discount = issue(shop)
    own = {name: discount[name] for name in ("code", "value_mode", "value_amount", "currency", "ends_at")}

    answer = shop.admin.put(f"discounts/{discount['id']}.json", own | {"title": "New"})

    assert answer.status_code == 200, answer.content
    assert answer.json()["discount"] == discount | {
        "title": "New",
        "updated_at": answer.json()["discount"]["updated_at"],
    }


def test_archiving_disables_the_voucher(shop):
    discount = issue(shop)

    answers = [shop.admin.delete(f"discounts/{discount['id']}.json") for _ in range(2)]

    assert [answer.json()["discount"]["effective_status"] for answer in answers] == ["archived"] * 2
    with shop.scope():
        voucher = Voucher.objects.get()
    assert (voucher.status, voucher.balance_cents) == ("disabled", 2500)
    checkout = enter_checkout(shop, (factories.make_variant(shop), 1))
    refused = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": discount["code"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "voucher_not_active")


@pytest.mark.parametrize(
    ("act", "status"),
    [
        (lambda shop, card: shop.admin.delete(f"vouchers/{card['voucher_id']}.json"), "disabled"),
        (
            lambda shop, card: shop.admin.post(f"vouchers/{card['voucher_id']}/revoke.json", {"reason": "x"}),
            "disabled",
        ),
        (
            lambda shop, card: shop.admin.post(
                "vouchers/redeem.json", {"code": card["code"], "amount_cents": 2500}
            ),
            "exhausted",
        ),
    ],
)
def test_effective_status_follows_the_voucher(shop, act, status):
    discount = issue(shop)

    assert act(shop, discount).status_code == 200

    shown = shop.admin.get(f"discounts/{discount['id']}.json").json()["discount"]
    assert (shown["status"], shown["effective_status"]) == ("active", status)


def test_gift_cards_are_listed_by_type_and_code(shop, django_assert_num_queries):
    cards = [issue(shop) for _ in range(3)]
    factories.make_discount(shop, code="OTHER")

    def found(query):
        return [row["id"] for row in shop.admin.get(f"discounts.json{query}").json()["discounts"]]

    assert found("?type=gift_card") == [card["id"] for card in reversed(cards)]
    assert found(f"?code={cards[1]['code'].lower()}") == [cards[1]["id"]]
    with django_assert_num_queries(5):
        found("?type=gift_card&limit=1")
    with django_assert_num_queries(5):
        found("?type=gift_card")


def test_key_without_the_scopes_of_vouchers_neither_makes_nor_sees_money(shop):
    discount = issue(shop)
    client = shop.client_with("write_discounts")
    path = f"discounts/{discount['id']}.json"

    refused = [client.post("discounts.json", GIFT_CARD), client.delete(path)]

    assert {(answer.status_code, answer.json()["required_scope"]) for answer in refused} == {
        (403, "write_vouchers")
    }
    assert client.get(path).json()["discount"] == discount | {"code": None}
    assert client.get("discounts.json").json()["discounts"] == [discount | {"code": None}]
    with shop.scope():
        assert Voucher.objects.get().status == "active"


CODE = {"type": "discount_code", "title": "Spring", "value_mode": "free"}


def forms_of(code):
    plain = code.replace("-", "")
    return [code, code.lower(), plain, f"{plain[:2]}-{plain[2:]}"]


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("ended", [False, True])
def test_code_of_a_gift_card_is_refused_for_a_discount(shop, form, ended):
    card = factories.make_voucher(shop, 1000)
    if ended:
        shop.admin.delete(f"vouchers/{card.pk}.json")
    discount = factories.make_discount(shop, code="SPRING")
    body = {"code": forms_of(card.code)[form]}

    answers = [
        shop.admin.post("discounts.json", CODE | body),
        shop.admin.put(f"discounts/{discount.pk}.json", body),
    ]

    problems = {(answer.status_code, answer.json()["code"]) for answer in answers}
    assert problems == {(409, "discount_code_taken")}
    with shop.scope():
        assert [row.code for row in Discount.objects.all()] == ["SPRING"]


def test_code_of_anothers_gift_card_is_free(shop, other_shop):
    card = factories.make_voucher(other_shop, 1000)

    assert shop.admin.post("discounts.json", CODE | {"code": card.code}).status_code == 201


def test_discount_that_has_the_code_of_a_gift_card_can_be_changed_otherwise(shop):
    """An older release allowed this."""
    discount = factories.make_discount(shop, code=factories.make_voucher(shop, 1000).code)
    path = f"discounts/{discount.pk}.json"

    assert shop.admin.put(path, {"code": discount.code, "title": "New"}).status_code == 200
    assert shop.admin.put(path, {"code": "OTHER"}).status_code == 200
