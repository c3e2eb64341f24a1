"""Discounts created and changed concurrently, with real threads."""

import pytest

from discounts.models import Discount
from tests import factories
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_code_made_by_many_at_once_is_made_once(shop):
    body = {"type": "discount_code", "title": "T", "value_mode": "free"}
    codes = ["SUMMER", "summer", "Summer", " SUMMER "] * 2

    answers = run_threads(8, lambda index: shop.admin.post("discounts.json", body | {"code": codes[index]}))

    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 7]
    assert {answer.json().get("code") for answer in answers} == {None, "discount_code_taken"}
    with shop.scope():
        assert Discount.objects.count() == 1


def test_changes_at_once_that_only_fit_apart_never_meet(shop):
    discount = factories.make_discount(shop, currency="EUR", value_mode="percentage", value_amount=100)
    changes = [{"value_mode": "fixed_amount"}, {"currency": None}] * 4

    answers = run_threads(8, lambda index: shop.admin.put(f"discounts/{discount.pk}.json", changes[index]))

    assert {answer.status_code for answer in answers} == {200, 422}
    with shop.scope():
        row = Discount.objects.get()
    assert (row.value_mode, row.currency) in {("fixed_amount", "EUR"), ("percentage", None)}


def test_change_and_archiving_at_once_leave_it_archived(shop):
    discount = factories.make_discount(shop)
    path = f"discounts/{discount.pk}.json"

    answers = run_threads(
        6, lambda index: shop.admin.put(path, {"title": "New"}) if index % 2 else shop.admin.delete(path)
    )

    assert {answer.status_code for answer in answers} <= {200, 409}
    with shop.scope():
        assert Discount.objects.get().status == "archived"
