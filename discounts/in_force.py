"""Load the rules for evaluating discounts, by constant statements, because every step of a checkout does so."""

from collections.abc import Sequence
from datetime import datetime

import orjson

from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send

from .evaluation import COLUMNS, CONFIG_COLUMNS, Rule, build_rule
from .registry import get_mechanic
from .rules import normalise_code

_COLUMNS = ", ".join(COLUMNS)
# The number of automatic discounts that a trial evaluates.
MAX_TRIED = 200
# Two parts, so that each uses its own index, however many codes there are.
_IN_FORCE = Prepared(
    f"""
    SELECT {_COLUMNS} FROM discounts
     WHERE account_id = %(account_id)s AND code IS NULL AND status = 'active'
       AND (starts_at IS NULL OR starts_at <= %(now)s) AND (ends_at IS NULL OR ends_at > %(now)s)
     UNION ALL
    SELECT {_COLUMNS} FROM discounts
     WHERE account_id = %(account_id)s AND id = ANY(%(entered_ids)s) AND code IS NOT NULL
    """,  # noqa: S608  the columns are constant
    reads=True,
)
# The newest, because those are what staff try; in any state but archived, because the trial explains the state.
_ON_TRIAL = Prepared(
    f"""
   (SELECT {_COLUMNS} FROM discounts
     WHERE account_id = %(account_id)s AND code IS NULL AND status <> 'archived'
     ORDER BY id DESC LIMIT {MAX_TRIED})
     UNION
    SELECT {_COLUMNS} FROM discounts WHERE account_id = %(account_id)s AND id = %(discount_id)s::bigint
     UNION
    SELECT {_COLUMNS} FROM discounts
     WHERE account_id = %(account_id)s AND status <> 'archived'
       AND code_key = ANY(ARRAY(SELECT upper(typed) FROM unnest(%(codes)s::text[]) AS typed))
     ORDER BY id
    """,  # noqa: S608  the columns are constant
    reads=True,
)
# The lock excludes the full lock that `update_discount` takes before it removes a code, but not the counting of uses.
_BY_CODE = Prepared(f"""
    SELECT {_COLUMNS} FROM discounts
     WHERE account_id = %(account_id)s AND code_key = upper(%(code)s) AND type <> 'gift_card'
     ORDER BY status = 'archived', id DESC LIMIT 1 FOR KEY SHARE
""")  # noqa: S608  the columns are constant


def may_have_automatic_sql(account: str) -> str:
    """SQL that tells whether an account has automatic discounts that are active, whatever their times."""
    return f"""EXISTS (
        SELECT FROM discounts d WHERE d.account_id = {account} AND d.code IS NULL AND d.status = 'active')"""


def load_rules_in_force(*, entered_ids: Sequence[int], now: datetime) -> tuple[list[Rule], list[Rule]]:
    """Load the automatic discounts in force, and the entered ones in their order, in one statement."""
    rules = _fetch(_IN_FORCE, entered_ids=list(entered_ids), now=now)
    by_id = {rule.id: rule for rule in rules if rule.code is not None}
    automatic = [rule for rule in rules if rule.code is None]
    return automatic, [by_id[discount_id] for discount_id in entered_ids if discount_id in by_id]


def load_rules_on_trial(*, codes: Sequence[str], discount_id: int | None = None) -> list[Rule]:
    """Load automatic discounts in any state, those with the codes, and the given one, in one statement."""
    # The database makes them upper case, as Python does it differently: of ß it makes SS.
    typed = [normalise_code(code) for code in codes]
    return _fetch(_ON_TRIAL, codes=typed, discount_id=discount_id)


def find_rule_by_code(code: str) -> Rule | None:
    """Find a discount by its code, trimmed and ignoring case: a live one, or else the one archived last.

    Codes of gift cards belong to vouchers and aren't found. The row is locked, so that the discount keeps a code
    until the transaction ends.
    """
    return next(iter(_fetch(_BY_CODE, code=normalise_code(code))), None)


def _fetch(statement: Prepared, **parameters: object) -> list[Rule]:
    (found,) = send(statement.call({"account_id": current_account_id(), **parameters}))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found.rows]
    for row in rows:
        for name in CONFIG_COLUMNS:
            # Django has the driver return JSON as text, for its own fields to decode.
            if row[name] is not None:
                row[name] = orjson.loads(row[name])
    return [build_rule(row, get_mechanic(row["type"])) for row in rows]
