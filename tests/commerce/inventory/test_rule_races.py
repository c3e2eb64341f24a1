"""A variant's rule changes while its stock changes: the levels' copies of it are never stale."""

import pytest
from django.utils import timezone

from commerce.catalog.models import Variant
from commerce.catalog.operations import update_variant
from commerce.inventory import reservations
from commerce.inventory.models import InventoryLevel, Location
from commerce.inventory.operations import adjust_level
from tests.factories import make_variant
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


def test_levels_made_while_the_rule_changes_have_the_new_one(shop):
    variants = [make_variant(shop, stock=None) for _ in range(8)]
    with shop.scope():
        location_id = Location.objects.get().pk

    def work(index: int) -> None:
        variant = variants[index // 2]
        with shop.scope():
            if index % 2:
                changes = {"allow_backorder": True}
                update_variant(variant_id=variant.pk, changes=changes, now=timezone.now())
            else:
                adjust_level(
                    variant_id=variant.pk,
                    location_id=location_id,
                    delta=5,
                    reason="received",
                    now=timezone.now(),
                )

    assert run_threads(16, work) == [None] * 16

    with shop.scope():
        assert list(InventoryLevel.objects.values_list("on_hand", "allow_backorder")) == [(5, True)] * 8


def test_rules_and_reservations_of_several_variants_do_not_deadlock(shop):
    variants = [make_variant(shop, stock=None, allow_backorder=True) for _ in range(3)]

    def work(index: int) -> None:
        with shop.scope():
            if index % 3 == 0:
                variant = variants[index // 3 % 3]
                update_variant(variant_id=variant.pk, changes={"track_inventory": True}, now=timezone.now())
            else:
                wanted = {variant.pk: 1 for variant in (variants if index % 2 else reversed(variants))}
                reservations.reserve(checkout_id=index, wanted=wanted, now=timezone.now())

    assert run_threads(24, work) == [None] * 24

    with shop.scope():
        assert [Variant.objects.get(pk=variant.pk).may_oversell for variant in variants] == [True] * 3
        assert list(InventoryLevel.objects.values_list("reserved", flat=True)) == [16] * 3
