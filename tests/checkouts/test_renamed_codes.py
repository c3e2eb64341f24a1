"""Codes in a checkout are shown, replaced and removed by their text, even if staff rename them."""

import pytest

from tests import factories
from tests.storefront import enter_checkout


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=2000)


def make_checkout(shop, variant, *codes):
    """Create a checkout of two units with codes."""
    checkout = enter_checkout(shop, (variant, 2))
    for code in codes:
        answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
        checkout = answer.json()["checkout"]
    return checkout


def change(shop, discount, **changes):
    answer = shop.admin.put(f"discounts/{discount.pk}.json", changes)
    assert answer.status_code == 200, answer.content


def test_renamed_code_is_removed_by_the_name_it_was_entered_with(shop, variant):
    discount = factories.make_discount(shop, code="TEN")
    checkout = make_checkout(shop, variant, "TEN")
    change(shop, discount, code="RENAMED")
    path = f"checkouts/{checkout['token']}/discount"

    other = shop.storefront.delete(f"{path}/RENAMED.json")
    removed = shop.storefront.delete(f"{path}/TEN.json").json()["checkout"]

    assert (other.status_code, other.json()["code"]) == (404, "discount_not_applied")
    assert (removed["discount_codes"], removed["totals"]["discount_cents"]) == ([], "0")


def shown_codes(answer):
    assert answer.status_code == 200, answer.content
    return [
        (entry["code"], entry["discount_id"], entry["amount_cents"])
        for entry in answer.json()["checkout"]["discount_codes"]
    ]


def test_renamed_code_is_shown_and_removed_by_its_new_name_once_that_is_entered(shop, variant):
    discount = factories.make_discount(shop, code="TEN")
    path = f"checkouts/{make_checkout(shop, variant, 'TEN')['token']}/discount"
    change(shop, discount, code="Renamed")

    again = shop.storefront.post(f"{path}.json", {"code": "RENAMED"})
    old = shop.storefront.delete(f"{path}/TEN.json")
    removed = shop.storefront.delete(f"{path}/renamed.json")

    assert shown_codes(again) == [("Renamed", str(discount.pk), "400")]
    assert (old.status_code, old.json()["code"]) == (404, "discount_not_applied")
    assert shown_codes(removed) == []


def test_discount_that_has_taken_the_code_of_an_entered_one_takes_its_place(shop, variant):
    first = factories.make_discount(shop, code="OLD", stackable=True)
    other = factories.make_discount(shop, code="OTHER", stackable=True, value_amount=500)
    path = f"checkouts/{make_checkout(shop, variant, 'OLD', 'OTHER')['token']}/discount"
    change(shop, first, code="NEW")
    second = factories.make_discount(shop, code="old", stackable=True, value_amount=500)

    taken = shop.storefront.post(f"{path}.json", {"code": "OLD"})
    both = shop.storefront.post(f"{path}.json", {"code": "NEW"})
    removed = shop.storefront.delete(f"{path}/OLD.json")

    assert shown_codes(taken) == [("OTHER", str(other.pk), "200"), ("old", str(second.pk), "190")]
    assert [code for code, *_ in shown_codes(both)] == ["OTHER", "old", "NEW"]
    assert [code for code, *_ in shown_codes(removed)] == ["OTHER", "NEW"]


def test_two_that_have_swapped_their_codes_never_show_the_same(shop, variant):
    one, two = (factories.make_discount(shop, code=code, stackable=True) for code in ("ONE", "TWO"))
    path = f"checkouts/{make_checkout(shop, variant, 'ONE', 'TWO')['token']}/discount"
    for discount, code in ((one, "X"), (two, "ONE"), (one, "TWO")):
        change(shop, discount, code=code)

    answer = shop.storefront.post(f"{path}.json", {"code": "TWO"})

    assert [entry[:2] for entry in shown_codes(answer)] == [("TWO", str(one.pk))]


def test_codes_that_only_python_takes_for_one_are_removed_one_by_one(shop, variant):
    for code in ("STRASSE", "straße"):
        factories.make_discount(shop, code=code, stackable=True)
    checkout = make_checkout(shop, variant, "STRASSE", "straße")
    path = f"checkouts/{checkout['token']}/discount"

    removed = shop.storefront.delete(f"{path}/stra%C3%9Fe.json")

    assert [entry["code"] for entry in checkout["discount_codes"]] == ["STRASSE", "straße"]
    assert [code for code, *_ in shown_codes(removed)] == ["STRASSE"]


def test_gift_card_is_removed_as_it_is_typed(shop, variant):
    card = factories.make_voucher(shop, 1000)
    path = f"checkouts/{make_checkout(shop, variant, card.code)['token']}/discount"

    removed = shop.storefront.delete(f"{path}/{card.code.replace('-', '').lower()}.json")

    assert shown_codes(removed) == []


def test_archived_discount_does_not_hide_the_gift_card_that_has_its_code(shop, variant):
    """An older release allowed both."""
    card = factories.make_voucher(shop, 1000)
    discount = factories.make_discount(shop, code=card.code)
    shop.admin.delete(f"discounts/{discount.pk}.json")

    checkout = make_checkout(shop, variant, card.code)

    assert [entry["voucher_id"] for entry in checkout["discount_codes"]] == [str(card.pk)]
