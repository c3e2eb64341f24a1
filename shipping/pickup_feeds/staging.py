"""The SQL of an import: copies the feed into a temporary table, and compares it with the existing points."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from .points import Point

# The numbers of the file and the line, and the point. A refused line has no name; its id only says that the carrier
# still has the point, so that it isn't closed.
Row = tuple[object, ...]

# An advisory lock, as there is no row for a carrier.
_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
_CREATE = """
    CREATE TEMPORARY TABLE staged_pickup_points AS
    SELECT 0::smallint AS file, 0::bigint AS line, external_id, kind, name, address1, city, zip, normalised_zip,
           country_code, latitude, longitude, opening_hours, is_cod_supported, max_weight_grams, status
      FROM pickup_points
      WITH NO DATA
"""
_COPY = "COPY staged_pickup_points FROM STDIN"
# Autovacuum doesn't analyse temporary tables, and without statistics the joins below may be planned for a few rows.
_ANALYSE = "ANALYZE staged_pickup_points"
_REMOVE_REPEATED = """
    WITH numbered AS (
        SELECT ctid, row_number() OVER (PARTITION BY external_id ORDER BY name IS NULL, file, line) AS nth
          FROM staged_pickup_points
    ), removed AS (
        DELETE FROM staged_pickup_points s USING numbered n WHERE s.ctid = n.ctid AND n.nth > 1
        RETURNING s.file, s.line, s.name
    )
    SELECT file, line, count(*) OVER () FROM removed WHERE name IS NOT NULL ORDER BY file, line LIMIT %s
"""
# `IS DISTINCT FROM`, as columns may be null.
_COMPARE = """
    CREATE TEMPORARY TABLE pickup_point_changes AS
    SELECT s.*, p.id IS NULL AS is_new,
           coalesce(p.status = 'active' AND s.status = 'closed', false) AS is_closing
      FROM staged_pickup_points s
      LEFT JOIN pickup_points p ON p.carrier = %s AND p.external_id = s.external_id
     WHERE s.name IS NOT NULL
       AND (p.id IS NULL
            OR (s.kind, s.name, s.address1, s.city, s.zip, s.normalised_zip, s.country_code, s.latitude,
                s.longitude, s.opening_hours, s.is_cod_supported, s.max_weight_grams, s.status)
               IS DISTINCT FROM
               (p.kind, p.name, p.address1, p.city, p.zip, p.normalised_zip, p.country_code, p.latitude,
                p.longitude, p.opening_hours, p.is_cod_supported, p.max_weight_grams, p.status))
"""
_COUNT_CHANGES = """
    SELECT count(*) FILTER (WHERE is_new),
           count(*) FILTER (WHERE NOT is_new AND NOT is_closing),
           count(*) FILTER (WHERE is_closing)
      FROM pickup_point_changes
"""
_COUNT_ACTIVE = """
    SELECT count(*), count(*) FILTER (WHERE s.external_id IS NULL)
      FROM pickup_points p
      LEFT JOIN staged_pickup_points s ON s.external_id = p.external_id
     WHERE p.carrier = %s AND p.status = 'active'
"""
# Only rows that change are touched: most points are the same in every feed, and an update always writes a new row.
_UPSERT = """
    INSERT INTO pickup_points AS p
           (carrier, external_id, kind, name, address1, city, zip, normalised_zip, country_code, latitude,
            longitude, opening_hours, is_cod_supported, max_weight_grams, status, updated_at)
    SELECT %s, external_id, kind, name, address1, city, zip, normalised_zip, country_code, latitude,
           longitude, opening_hours, is_cod_supported, max_weight_grams, status, %s::timestamptz
      FROM pickup_point_changes
     ORDER BY file, line
        ON CONFLICT (carrier, external_id) DO UPDATE
       SET kind = EXCLUDED.kind, name = EXCLUDED.name, address1 = EXCLUDED.address1, city = EXCLUDED.city,
           zip = EXCLUDED.zip, normalised_zip = EXCLUDED.normalised_zip, country_code = EXCLUDED.country_code,
           latitude = EXCLUDED.latitude, longitude = EXCLUDED.longitude, opening_hours = EXCLUDED.opening_hours,
           is_cod_supported = EXCLUDED.is_cod_supported, max_weight_grams = EXCLUDED.max_weight_grams,
           status = EXCLUDED.status, updated_at = EXCLUDED.updated_at
"""
_CLOSE_VANISHED = """
    UPDATE pickup_points p SET status = 'closed', updated_at = %s::timestamptz
     WHERE p.carrier = %s AND p.status = 'active'
       AND NOT EXISTS (SELECT FROM staged_pickup_points s WHERE s.external_id = p.external_id)
"""
_DROP = "DROP TABLE staged_pickup_points, pickup_point_changes"


class Changes(NamedTuple):
    """How many points a feed adds and changes, and how many active ones it marks as closed."""

    added: int
    changed: int
    closed: int


class Active(NamedTuple):
    """How many points of a carrier are active, and how many of those the feed lacks."""

    total: int
    vanished: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many lines repeat the id of an earlier line, and the file and line of the first ones."""

    count: int
    first: list[tuple[int, int]]


def try_lock(carrier: str) -> bool:
    """Lock the carrier's imports until the transaction ends. False if another import holds the lock."""
    # Without waiting: a second import of the same feed would only repeat the first.
    return bool(_fetch(_LOCK, f"pickup_points:{carrier}")[0])


def stage(rows: Iterable[Row]) -> None:
    """Create the staging table, and stream the rows into it."""
    with connection.cursor() as cursor:
        cursor.execute(_CREATE)
        with cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(_ANALYSE)


def build_refused_row(file: int, line: int, external_id: str) -> Row:
    return (file, line, external_id, *[None] * (len(Point._fields) - 1))


def remove_repeated(*, limit: int) -> Repeated:
    """Keep the first line of every id. Reports at most `limit` of the removed ones."""
    with connection.cursor() as cursor:
        cursor.execute(_REMOVE_REPEATED, [limit])
        rows = cursor.fetchall()
    return Repeated(count=rows[0][2] if rows else 0, first=[(file, line) for file, line, _ in rows])


def compare(carrier: str) -> Changes:
    """Collect the changes that the staged lines make, for `write_changes`."""
    with connection.cursor() as cursor:
        cursor.execute(_COMPARE, [carrier])
    return Changes(*_fetch(_COUNT_CHANGES))


def count_active(carrier: str) -> Active:
    return Active(*_fetch(_COUNT_ACTIVE, carrier))


def write_changes(carrier: str, *, now: datetime) -> None:
    """Insert new points and update changed ones. Unchanged rows aren't touched."""
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT, [carrier, now])


def close_vanished(carrier: str, *, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CLOSE_VANISHED, [now, carrier])


def drop_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_DROP)


def _fetch(statement: str, *parameters: str) -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return tuple(cursor.fetchone())
