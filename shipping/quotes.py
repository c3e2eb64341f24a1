"""The rows behind a quote, in one statement and without model objects: it is read in every checkout."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db import connection

from commerce.tenancy.scope import current_account_id

from .matching import Candidate, Method, Rate, Shape, Zone

# A free method needs its rates in every currency: whether it has any of its own decides what it costs.
_CANDIDATES = """
    SELECT z.country_codes, z.zip_patterns, z.market_id,
           m.id, m.handle, m.name, m.carrier, m.service_code, m.rate_mode, m.requires_pickup_point,
           m.is_cod_compatible, m.estimated_days_min, m.estimated_days_max, m.cod_fee_cents,
           r.id, r.price_cents, r.currency, r.display_name, r.min_weight_grams, r.max_weight_grams,
           r.min_subtotal_cents, r.max_subtotal_cents, r.min_quantity, r.max_quantity, r.is_automatic
      FROM shipping_zones z
      JOIN shipping_methods m ON m.account_id = z.account_id AND m.zone_id = z.id AND m.deleted_at IS NULL
      LEFT JOIN shipping_rates r ON r.account_id = m.account_id AND r.method_id = m.id AND r.deleted_at IS NULL
           AND (r.currency = %(currency)s OR m.rate_mode = 'free')
     WHERE z.account_id = %(account_id)s AND z.deleted_at IS NULL
       AND z.country_codes @> ARRAY[%(country_code)s]::varchar[]
       AND (z.market_id IS NULL OR z.market_id = %(market_id)s::bigint)
       AND (%(method_id)s::bigint IS NULL OR m.id = %(method_id)s::bigint)
     ORDER BY m.id, r.id
"""
_METHOD_AT, _RATE_AT = 3, 14

# Of two quotes at once, both answer with the row of the first.
_MAKE_FREE_RATES = """
    INSERT INTO shipping_rates
           (account_id, method_id, price_cents, currency, is_flat, is_automatic, created_at, updated_at)
    SELECT %s, method_id, 0, %s, false, true, now(), now() FROM unnest(%s::bigint[]) AS method_id
    ON CONFLICT (account_id, method_id, currency) WHERE is_automatic AND deleted_at IS NULL
    DO UPDATE SET updated_at = EXCLUDED.updated_at
    RETURNING method_id, id
"""


def candidates(shape: Shape, *, method_id: int | None = None) -> list[Candidate]:
    """The live methods whose zone may cover the shape, or the one asked for, in one statement."""
    parameters: dict[str, str | int | None] = {
        "account_id": current_account_id(),
        "country_code": shape.country_code,
        "currency": shape.currency,
        "market_id": shape.market_id,
        "method_id": method_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CANDIDATES, parameters)
        rows = cursor.fetchall()
    return [_candidate(list(group)) for _, group in groupby(rows, key=lambda row: row[_METHOD_AT])]


def with_free_rates(shape: Shape, found: list[Candidate]) -> list[Candidate]:
    """The candidates, where free methods that lack a rate have got one. Writes only when one is missing."""
    lacking = [candidate.method.id for candidate in found if candidate.lacks_rate(shape)]
    if not lacking:
        return found
    made = _make_free_rates(method_ids=lacking, currency=shape.currency)
    return [
        replace(candidate, rates=[*candidate.rates, made[candidate.method.id]])
        if candidate.method.id in made
        else candidate
        for candidate in found
    ]


def _candidate(rows: list[tuple[Any, ...]]) -> Candidate:
    """One method from its rows, one per rate."""
    first = rows[0]
    return Candidate(
        zone=Zone(*first[:_METHOD_AT]),
        method=Method(*first[_METHOD_AT:_RATE_AT]),
        rates=[Rate(*row[_RATE_AT:]) for row in rows if row[_RATE_AT] is not None],
    )


def _make_free_rates(*, method_ids: Iterable[int], currency: str) -> dict[int, Rate]:
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_FREE_RATES, (current_account_id(), currency, sorted(method_ids)))
        return {
            method_id: Rate(id=rate_id, price_cents=0, currency=currency, is_automatic=True)
            for method_id, rate_id in cursor.fetchall()
        }
