"""Size limits in bytes of everything that a request may store. A new field or column without one fails here."""

import pytest
from django.db import connection
from rest_framework import serializers

from accounts.api.serializers import AccountHandleField
from commerce.customers.api.segment_input import FilterField
from commerce.mail import email_folders
from commerce.rest import fields
from discounts.api.discount_input import CodeField
from tests.problems import problem
from tests.rest.bodies import serializer_of
from tests.rest.routes import rolling_back, routes

KIB = 1024
# Bytes in UTF-8, by the type of a field that declares no length.
BYTES_OF_KINDS = {
    AccountHandleField: 63,
    fields.HandleField: 63,
    fields.TokenField: 64,
    fields.CurrencyField: 3,
    fields.CountryField: 2,
    fields.LocaleField: 6,
    fields.TimeZoneField: 64,
    fields.DomainField: 253,
    fields.IntegerField: 17,
    fields.BooleanField: 5,
    fields.DateTimeField: 64,
}
# Lists limited only by the size of the body, 1 MiB; each element is a separate row.
ROWS = {"variants"}
# Only known keys of templates are stored, each with a boolean.
KNOWN_KEYS = {"notification_preferences": 32 * len(email_folders())}


def most_bytes(name, field):
    """Return the maximum size of a field; None if it is unlimited."""
    if isinstance(field, fields.ObjectField | fields.WholeField):
        return field.max_bytes
    if isinstance(field, serializers.ListField):
        return product(field.max_length, most_bytes(name, field.child))
    if isinstance(field, serializers.Serializer):
        return total(len(key) + 4 + most_bytes_or_nan(key, part) for key, part in field.fields.items())
    if getattr(field, "max_length", None) is not None:
        return 4 * field.max_length
    return KNOWN_KEYS.get(name) or of_kind(field)


def of_kind(field):
    if isinstance(field, serializers.ChoiceField):
        return max(len(str(choice)) for choice in field.choices)
    return next((size for kind, size in BYTES_OF_KINDS.items() if isinstance(field, kind)), None)


def most_bytes_or_nan(name, field):
    size = most_bytes(name, field)
    return float("nan") if size is None else size


def product(one, other):
    return None if one is None or other is None else one * other


def total(sizes):
    found = sum(sizes)
    return None if found != found else found  # noqa: PLR0124  it is NaN where a part has no bound


def test_every_field_of_a_request_has_a_bound_in_bytes():
    unbounded = []
    for route in routes():
        serializer = serializer_of(route) if route.takes_body else None
        for name, field in serializer.fields.items() if serializer else ():
            size = most_bytes(name, field)
            if name not in ROWS and (size is None or size > 256 * KIB):
                unbounded.append((str(route), name, size))

    assert unbounded == []


def test_most_bytes_knows_a_field_without_a_bound():
    assert most_bytes("x", serializers.ListField(child=fields.IdField())) is None
    assert most_bytes("x", fields.TextField()) is None
    assert most_bytes("x", serializers.JSONField()) is None
    assert most_bytes("x", CodeField()) == 256
    assert most_bytes("x", FilterField()) == 64 * KIB


PASSKEY = "within the body of a request by somebody who is logged in"
BY_FIELD = "bounded by the field of the request"
COPY = "a copy of what is bounded where it was written"
KEY = "another column in upper case, which has the same number of characters"
OURS = "written by the product, from what is bounded"
# Columns without a limit by type or constraint, and what limits them instead.
BOUNDED_OTHERWISE = {
    "account_settings.value": "by the registry of settings: a choice, a number, or 255 characters",
    "api_keys.scopes": BY_FIELD,
    "api_keys.secret_hash": OURS,
    "checkout_line_items.custom_attributes": COPY,
    "checkout_payment_attempts.redirect_url": "by the gateway",
    "checkouts.automatic_discounts": OURS,
    "checkouts.discount_codes": "codes that the merchant has made, each once",
    "checkouts.pickup_point": COPY,
    "checkouts.referrer": COPY,
    "checkouts.shipping_method": COPY,
    "checkouts.utm": COPY,
    "checkouts.vat": "by the field of the request, and the validation service",
    "customers.notification_preferences": "known keys alone are kept",
    "customers.tags": BY_FIELD,
    "discounts.bogo_config": BY_FIELD,
    "discounts.code_key": KEY,
    "discounts.bulk_tiers": BY_FIELD,
    "discounts.config": BY_FIELD,
    "discounts.customer_ids": BY_FIELD,
    "discounts.customer_tags": BY_FIELD,
    "discounts.market_ids": BY_FIELD,
    "discounts.product_ids": BY_FIELD,
    "discounts.segment_ids": BY_FIELD,
    "discounts.variant_ids": BY_FIELD,
    "django_admin_log.change_message": OURS,
    "django_admin_log.object_id": OURS,
    "django_session.session_data": "unused",
    "email_deliveries.ctx": "128 KiB of a request, or written by the product",
    "email_deliveries.html": "by the renderer",
    "email_deliveries.text": "by the renderer",
    "email_template_versions.body_source": BY_FIELD,
    "email_template_versions.body_text": BY_FIELD,
    "email_template_versions.preheader": BY_FIELD,
    "email_template_versions.subject": BY_FIELD,
    "events.data": OURS,
    "staff_sessions.session_data": OURS,
    "staff_roles.scopes": "known scopes alone are kept",
    "staff_invitations.token_hash": "a SHA-256",
    "django_otp_webauthn_webauthnattestation.client_data_json": PASSKEY,
    "django_otp_webauthn_webauthnattestation.data": PASSKEY,
    "django_otp_webauthn_webauthncredential.credential_id": PASSKEY,
    "django_otp_webauthn_webauthncredential.public_key": PASSKEY,
    "django_otp_webauthn_webauthncredential.transports": PASSKEY,
    "idempotency_records.body": "an answer, of what is bounded",
    "idempotency_records.fingerprint": OURS,
    "order_line_items.custom_attributes": COPY,
    "orders.automatic_discounts": COPY,
    "orders.billing_address": COPY,
    "orders.cancel_reason": BY_FIELD,
    "orders.customer_note": COPY,
    "orders.discount_codes": COPY,
    "orders.pickup_point": COPY,
    "orders.referrer": COPY,
    "orders.shipping_address": COPY,
    "orders.shipping_method": COPY,
    "orders.utm": COPY,
    "orders.vat": COPY,
    "outbox_dispatches.last_error": OURS,
    "outbox_dispatches.message": "by the renderer",
    "outbox_dispatches.payload": OURS,
    "outbox_dispatches.target": OURS,
    "pickup_points.opening_hours": "read-only for requests",
    "postponed_rows.last_error": OURS,
    "products.description": BY_FIELD,
    "segments.filter": BY_FIELD,
    "shipping_methods.carrier_config": BY_FIELD,
    "shipping_zones.country_codes": BY_FIELD,
    "orders.email_key": KEY,
    "shipping_zones.zip_patterns": BY_FIELD,
    "staff_actions.changes": OURS,
    "staff_actions.summary": OURS,
    "test_card_payments.cancel_url": COPY,
    "test_card_payments.return_url": COPY,
    "vouchers.recipient_email_key": KEY,
    "vouchers.revocation_reason": BY_FIELD,
    "webhook_deliveries.error": OURS,
    "webhook_deliveries.response_excerpt": "the first KiB of an answer",
    "webhook_endpoints.topics": BY_FIELD,
    "workspace_idempotency_records.body": "an answer, of what is bounded",
    "workspace_idempotency_records.fingerprint": OURS,
}
_ENDLESS_COLUMNS = """
    SELECT c.relname || '.' || a.attname
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
       AND (t.typname IN ('text', 'jsonb', 'json', 'bytea') OR t.typcategory = 'A'
            OR (t.typname = 'varchar' AND a.atttypmod < 0))
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k
                        WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
                          AND pg_get_constraintdef(k.oid) LIKE 'CHECK ((octet_length(%')
"""


def test_every_column_has_a_bound(db):
    with connection.cursor() as cursor:
        cursor.execute(_ENDLESS_COLUMNS)
        endless = {column for (column,) in cursor.fetchall()}

    assert endless == set(BOUNDED_OTHERWISE)


# As deep as the JSON parser accepts, which would exhaust the stack of anything that prints or copies it.
DEEP = b"[" * 900 + b"]" * 900


@pytest.mark.parametrize("deep", [DEEP, b'{"a":' * 900 + b"1" + b"}" * 900], ids=["lists", "objects"])
def test_body_that_is_nested_deeply_is_malformed_everywhere(world, deep):
    """In each field of each body, even if its error would quote the value."""
    found = set()
    for route in routes():
        if not route.takes_body:
            continue
        serializer = serializer_of(route)
        names = [*serializer.fields, "unknown"] if serializer else ["unknown"]
        body = b"{" + b",".join(b'"%s": %s' % (name.encode(), deep) for name in names) + b"}"
        client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
        headers = {"idempotency_key": "some-key-of-a-test"} if route.method == "POST" else {}
        with rolling_back():
            found.add(problem(client.send(route.method, world.path(route), body, **headers)))

    assert found == {(400, "malformed_request")}


def test_body_of_many_parts_that_is_not_deep_is_read(shop):
    answer = shop.admin.post("products.json", {"unknown": [[]] * 1000, "deep": _nested(98)})

    assert problem(answer) == (422, "validation_failed")
    assert problem(shop.admin.post("products.json", {"deep": _nested(100)})) == (400, "malformed_request")


def _nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value
