"""The form of a check, and a helper for sums."""

from dataclasses import dataclass

_SUMS = """
    SELECT t.id, t.{column}, COALESCE(sums.amount, 0)
      FROM {table} t
      LEFT JOIN (SELECT p.{reference} AS id, {total} AS amount
                   FROM {parts} p WHERE p.account_id = %(account)s AND {which}
                  GROUP BY p.{reference}) sums ON sums.id = t.id
     WHERE t.account_id = %(account)s AND t.{column} <> COALESCE(sums.amount, 0)
     ORDER BY t.id
"""


@dataclass(frozen=True, slots=True)
class Check:
    """`sql` selects the wrong rows, with the values for the placeholders of `text`."""

    text: str
    sql: str


def compare_sums(text: str, *, table: str, column: str, parts: str, reference: str, **how: str) -> Check:
    """Compare a column of a table with the `total` of the parts that refer to it."""
    names = {"which": "true", "total": f"sum(p.{how.pop('amount', 'id')})"} | how
    return Check(text, _SUMS.format(table=table, column=column, parts=parts, reference=reference, **names))
