"""Load the rows for a quote in one statement, without model objects, because every checkout reads them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.db import connection

from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send

from .matching import Candidate, Method, Option, Parcel, Rate, Zone, list_matching_patterns

_CANDIDATES = """
    SELECT z.country_codes, z.zip_patterns, z.market_id, z.id,
           m.id, m.handle, m.name, m.carrier, m.service_code, m.rate_mode, m.requires_pickup_point,
           m.is_cod_compatible, m.estimated_days_min, m.estimated_days_max, m.cod_fee_cents,
           r.id, r.price_cents, r.currency, r.display_name, r.min_weight_grams, r.max_weight_grams,
           r.min_subtotal_cents, r.max_subtotal_cents, r.min_quantity, r.max_quantity, r.is_automatic
      FROM shipping_zones z
      JOIN shipping_methods m ON m.account_id = z.account_id AND m.zone_id = z.id AND m.deleted_at IS NULL
      LEFT JOIN shipping_rates r ON r.account_id = m.account_id AND r.method_id = m.id AND r.deleted_at IS NULL
           {which_rates}
     WHERE z.account_id = %(account_id)s AND z.deleted_at IS NULL
           {which}
     ORDER BY m.id, r.id
"""
# The columns at which the method's and the rate's begin. They are in the order of the dataclasses' fields.
_METHOD_AT, _RATE_AT = 4, 15

# Rows that can't become an option are left out here; `matching` decides about the rest. A free method needs its rates
# in every currency, because it gets no automatic rate if it has any rate of its own. `IS NOT FALSE` passes open bounds. Patterns
# beyond ASCII are left to `matching`, because Python's upper() differs from that of the collation "C".
_NARROWED = Prepared(
    _CANDIDATES.format(
        which_rates="""
           AND (m.rate_mode = 'free'
                OR (r.currency = %(currency)s
                    AND (r.min_weight_grams <= %(weight_grams)s::bigint) IS NOT FALSE
                    AND (r.max_weight_grams >= %(weight_grams)s::bigint) IS NOT FALSE
                    AND (r.min_subtotal_cents <= %(subtotal_cents)s::bigint) IS NOT FALSE
                    AND (r.max_subtotal_cents >= %(subtotal_cents)s::bigint) IS NOT FALSE
                    AND (r.min_quantity <= %(quantity)s::bigint) IS NOT FALSE
                    AND (r.max_quantity >= %(quantity)s::bigint) IS NOT FALSE))
    """,
        which="""
       AND z.country_codes @> ARRAY[%(country_code)s]::varchar[]
       AND (%(market_id)s::bigint IS NULL OR z.market_id IS NULL OR z.market_id = %(market_id)s::bigint)
       AND (z.zip_patterns = '{}' OR EXISTS (
            SELECT FROM unnest(z.zip_patterns) AS pattern
             WHERE upper(translate(pattern, ' -', '') COLLATE "C") = ANY(%(zip_patterns)s::text[])
                   OR pattern COLLATE "C" ~ '[^ -~]'))
       AND (%(method_id)s::bigint IS NULL OR m.id = %(method_id)s::bigint)
       AND (m.rate_mode = 'free' OR r.id IS NOT NULL)
    """,
    ),
    reads=True,
)
_OF_ZONES = Prepared(
    _CANDIDATES.format(which_rates="", which="AND z.id = ANY(%(zone_ids)s::bigint[])"), reads=True
)

# A free method's automatic rate has an id of its own (`compute_automatic_rate_id`), so two shoppers at once get the same
# row. A merchant who deletes a method, gives it rates or changes its mode at the same time is waited for. So are other
# shoppers: ON CONFLICT waits for rows with the same id only, and the index of one live automatic rate would refuse
# theirs. A rate that a merchant has made their own is left as it is.
_STORE_AUTOMATIC_RATE = """
    WITH free AS (
        SELECT m.id FROM shipping_methods m
         WHERE m.account_id = %(account_id)s AND m.id = %(method_id)s AND m.deleted_at IS NULL AND m.rate_mode = 'free'
           FOR NO KEY UPDATE
    )
    INSERT INTO shipping_rates AS r
           (account_id, id, method_id, price_cents, currency, is_flat, is_automatic, created_at, updated_at)
    SELECT %(account_id)s, %(rate_id)s, free.id, 0, %(currency)s, false, true, now(), now() FROM free
    ON CONFLICT (account_id, id) DO UPDATE
    SET price_cents = 0, currency = EXCLUDED.currency, is_flat = false, is_automatic = true, display_name = NULL,
        min_weight_grams = NULL, max_weight_grams = NULL, min_subtotal_cents = NULL, max_subtotal_cents = NULL,
        min_quantity = NULL, max_quantity = NULL, deleted_at = NULL, updated_at = EXCLUDED.updated_at
    WHERE r.deleted_at IS NOT NULL OR r.is_automatic
"""


def load_candidates(parcel: Parcel, *, method_id: int | None = None) -> list[Candidate]:
    """Return the live methods that may carry the parcel, or only the given one, with the rates that may apply."""
    return _fetch(
        _NARROWED,
        country_code=parcel.country_code,
        zip_patterns=list_matching_patterns(parcel.zip),
        market_id=parcel.market_id,
        weight_grams=parcel.weight_grams,
        subtotal_cents=parcel.subtotal_cents,
        quantity=parcel.quantity,
        currency=parcel.currency,
        method_id=method_id,
    )


def load_zone_candidates(zone_ids: Sequence[int]) -> list[Candidate]:
    """Return the live methods of the zones, with all of their live rates."""
    return _fetch(_OF_ZONES, zone_ids=zone_ids)


def store_automatic_rate(option: Option) -> bool:
    """Store the automatic rate of a free method; False if the method may no longer have one."""
    parameters: dict[str, Any] = {
        "account_id": current_account_id(),
        "method_id": option.method.id,
        "rate_id": option.rate.id,
        "currency": option.rate.currency,
    }
    # The statement itself locks the method, so `lock()` can't do it.
    about_to_lock(Resource.SHIPPING_METHOD)
    with connection.cursor() as cursor:
        cursor.execute(_STORE_AUTOMATIC_RATE, parameters)
        return cursor.rowcount == 1


def _fetch(statement: Prepared, **parameters: object) -> list[Candidate]:
    (found,) = send(statement.call(parameters | {"account_id": current_account_id()}))
    candidates = []
    # A method has one row per rate, or one without a rate. They are neighbours, as the statement orders by method.
    for _, group in groupby(found.rows, key=lambda row: row[_METHOD_AT]):
        rows_of_method = list(group)
        first = rows_of_method[0]
        candidates.append(
            Candidate(
                zone=Zone(*first[:_METHOD_AT]),
                method=Method(*first[_METHOD_AT:_RATE_AT]),
                rates=[Rate(*row[_RATE_AT:]) for row in rows_of_method if row[_RATE_AT] is not None],
            )
        )
    return candidates
