"""Refusals as a whole: one code has one status, each is documented, and lost races answer like the checks before."""

from collections import Counter, defaultdict

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, models

from commerce.rest.catalogue import error_document, refusals

# Unique keys that no request can violate, each with its reason.
NEVER_VIOLATED = {
    "account_settings_name": "written by upsert",
    "accounts_of_workspace": "holds an id, for references to it",
    "cart_line_items_equal": "written by upsert",
    "carts_token": "random",
    "checkout_line_items_position": "numbered by the operation that makes them",
    "checkout_payment_attempts_one_open": "written under the checkout's lock",
    "checkout_payment_attempts_one_success": "written under the checkout's lock",
    "checkouts_token": "random",
    "discount_holds_one": "written under the checkout's lock",
    "discount_redemptions_one": "written under the checkout's lock, or the order's",
    "email_delivery_events_key": "written by ON CONFLICT DO NOTHING",
    "email_deliveries_key": "written with the dispatch, which one worker closes",
    "email_template_versions_number": "written by ON CONFLICT DO NOTHING",
    "inventory_levels_place": "written by upsert",
    "inventory_reservations_once": "written by upsert",
    "order_counters_account": "written by upsert",
    "order_line_items_position": "numbered by the operation that makes them",
    "orders_checkout": "written under the checkout's lock",
    "orders_number": "numbered under the counter's lock",
    "orders_token": "random",
    "outbox_dispatches_key": "written by ON CONFLICT DO NOTHING",
    "pickup_points_external_id": "read-only for requests",
    "shipping_rates_one_automatic": "written by ON CONFLICT DO NOTHING",
    "test_card_payments_key": "written by ON CONFLICT DO NOTHING",
    "variant_pricing_market": "written by upsert",
    "voucher_holds_one": "written under the checkout's lock",
    "vouchers_code": "random",
}


def test_code_has_one_status():
    statuses = defaultdict(set)
    for refusal in refusals():
        statuses[refusal.code].add(refusal.status)

    assert {code: found for code, found in statuses.items() if len(found) > 1} == {}


def test_codes_are_in_snake_case_and_have_titles():
    assert all(refusal.code.replace("_", "").isalnum() and refusal.code.islower() for refusal in refusals())
    assert all(refusal.title[0].isupper() and not refusal.title.endswith(".") for refusal in refusals())


def test_committed_document_of_error_codes_is_current():
    # `make openapi` writes it anew.
    assert (settings.BASE_DIR / "docs" / "errors.md").read_text() == error_document()


def test_constraint_means_one_refusal():
    names = Counter(name for refusal in refusals() for name in refusal.constraints)

    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.django_db
def test_constraints_of_refusals_exist():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class WHERE relkind = 'i'"
        )
        existing = {row[0] for row in cursor.fetchall()}

    assert {name for refusal in refusals() for name in refusal.constraints} - existing == set()


def test_unique_keys_are_refusals_or_never_violated():
    meant = {name for refusal in refusals() for name in refusal.constraints}
    unique_keys = {
        constraint.name
        for model in apps.get_models()
        if not model.__module__.startswith("django.")
        for constraint in model._meta.constraints
        if isinstance(constraint, models.UniqueConstraint)
    }

    assert unique_keys - meant == NEVER_VIOLATED.keys()
