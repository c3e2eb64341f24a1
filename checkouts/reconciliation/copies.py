"""Compare orders with what they copied from their checkouts, except amounts."""

from checkouts.lines import write_untaxed_columns

from .checks import Check

# Snapshots once stored numbers as text. A checkout may have been converted and its order not, or the reverse.
_AS_NUMBERS = """regexp_replace(jsonb_strip_nulls({column})::text, '"(-?[0-9]+)"', '\\1', 'g')"""
# An order has only the end of a gift card's code; `voucher_id` says which one it is.
_CODES = f"""regexp_replace({_AS_NUMBERS}, '"code": "....-....-....-(....)"', '"code": "\\1"', 'g')"""
_FIELDS = {
    "customer_id": "{row}.customer_id::text",
    "market_id": "{row}.market_id::text",
    "locale": "{row}.locale",
    "shipping price": "{row}.shipping_method->>'price_cents'",
    "shipping method": "{row}.shipping_method->>'id'",
    "reverse charge": "COALESCE({row}.vat->>'reverse_charge', 'false')",
    "discount codes": _CODES.format(column="{row}.discount_codes"),
    "automatic discounts": _AS_NUMBERS.format(column="{row}.automatic_discounts"),
}
_VALUES = ", ".join(
    f"('{name}', {field.format(row='o')}, {field.format(row='k')})" for name, field in _FIELDS.items()
)
_ORDERS = f"""
    SELECT o.id, figure.name, COALESCE(figure.said, 'none'), k.id, COALESCE(figure.copied, 'none')
      FROM orders o
      JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
     CROSS JOIN LATERAL (VALUES {_VALUES}) AS figure (name, said, copied)
     WHERE o.account_id = %(account)s AND figure.said IS DISTINCT FROM figure.copied
     ORDER BY o.id, figure.name
"""  # noqa: S608  the expressions are constant
_PLACED = """
    SELECT o.id, o.placed_at, k.id, k.completed_at
      FROM orders o
      JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
     WHERE o.account_id = %(account)s
       AND k.completed_at NOT BETWEEN o.placed_at - interval '1 hour' AND o.placed_at + interval '1 hour'
     ORDER BY o.id
"""
# Quantities, totals and discounts of lines are checked in `totals`.
_LINE_COLUMNS = (
    "product_id",
    "sku",
    "title",
    "weight_grams",
    "tax_class",
    "tax_rate_bp",
    "unit_price_with_tax_cents",
    "unit_price_without_tax_cents",
)


def _select_charged(column: str) -> str:
    """Write the SQL of a checkout line's column as charged: without tax under a reverse charge."""
    untaxed = write_untaxed_columns(table="f").get(column)
    if untaxed is None:
        return f"f.{column}::text"
    return f"CASE WHEN (k.vat->>'reverse_charge')::boolean THEN {untaxed} ELSE f.{column} END::text"


_LINES = f"""
    SELECT o.id, l.position, figure.name, figure.said, figure.copied
      FROM orders o
      JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
      JOIN order_line_items l ON l.account_id = o.account_id AND l.order_id = o.id
      JOIN checkout_line_items f
        ON f.account_id = k.account_id AND f.checkout_id = k.id AND f.position = l.position
     CROSS JOIN LATERAL (VALUES
           {", ".join(f"('{name}', l.{name}::text, {_select_charged(name)})" for name in _LINE_COLUMNS)}
           ) AS figure (name, said, copied)
     WHERE o.account_id = %(account)s AND figure.said <> figure.copied
     ORDER BY o.id, l.position, figure.name
"""  # noqa: S608  the columns are constant

CHECKS = (
    Check("order {} has the {} {}, but its checkout {} has {}", _ORDERS),
    Check("order {} was placed at {}, but its checkout {} was completed at {}", _PLACED),
    Check("order {}, line {}: its {} is {}, but that of the checkout's line is {}", _LINES),
)
