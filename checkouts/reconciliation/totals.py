"""Compare totals of checkouts and orders with their lines, discounts and gift cards, and with each other."""

from checkouts.totals import AMOUNTS

from .checks import Check

_IS_UNTAXED = "COALESCE((k.vat->>'reverse_charge')::boolean, false)"
# A line as charged: without tax under a reverse charge.
_CHARGED = f"""
    CASE WHEN {_IS_UNTAXED} THEN l.line_total_without_tax_cents ELSE l.line_total_with_tax_cents END
"""
_CHECKOUTS = f"""
    WITH charged AS (
        SELECT l.checkout_id, sum({_CHARGED}) AS with_tax, sum(l.line_total_without_tax_cents) AS without_tax,
               sum(l.discount_cents) AS discount
          FROM checkout_line_items l
          JOIN checkouts k ON k.account_id = l.account_id AND k.id = l.checkout_id
         WHERE l.account_id = %(account)s
         GROUP BY l.checkout_id
    ), entered AS (
        SELECT k.id, sum((e.entry->>'amount_cents')::bigint) FILTER (WHERE e.entry->>'voucher_id' IS NULL) AS discount,
               sum((e.entry->>'amount_cents')::bigint) FILTER (WHERE e.entry->>'voucher_id' IS NOT NULL) AS gift_card
          FROM checkouts k
         CROSS JOIN LATERAL jsonb_array_elements(k.discount_codes || k.automatic_discounts) AS e (entry)
         WHERE k.account_id = %(account)s
         GROUP BY k.id
    )
    SELECT k.id, figure.name, figure.said, figure.parts, figure.cents
      FROM checkouts k
      LEFT JOIN charged c ON c.checkout_id = k.id
      LEFT JOIN entered e ON e.id = k.id
     CROSS JOIN LATERAL (VALUES
           ('subtotal_with_tax_cents', k.subtotal_with_tax_cents, 'lines', COALESCE(c.with_tax, 0)),
           ('subtotal_without_tax_cents', k.subtotal_without_tax_cents, 'lines', COALESCE(c.without_tax, 0)),
           ('discount_cents', k.discount_cents, 'lines', COALESCE(c.discount, 0)),
           ('discount_cents and shipping_discount_cents', k.discount_cents + k.shipping_discount_cents, 'discounts',
            COALESCE(e.discount, 0)),
           ('gift_card_cents', k.gift_card_cents, 'gift cards', COALESCE(e.gift_card, 0))
           ) AS figure (name, said, parts, cents)
     WHERE k.account_id = %(account)s AND figure.said <> figure.cents
     ORDER BY k.id, figure.name
"""  # noqa: S608  the expressions are constant
# What an order copies from its checkout, as far as it is about amounts.
_COPIED = ("currency", "prices_include_tax", "payment_method", *AMOUNTS)
_ORDERS = f"""
    SELECT o.id, figure.name, figure.said, k.id, figure.copied
      FROM orders o
      JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
     CROSS JOIN LATERAL (VALUES
           {", ".join(f"('{name}', o.{name}::text, k.{name}::text)" for name in _COPIED)}
           ) AS figure (name, said, copied)
     WHERE o.account_id = %(account)s AND ({", ".join(f"o.{name}" for name in _COPIED)})
           IS DISTINCT FROM ({", ".join(f"k.{name}" for name in _COPIED)})
       AND figure.said IS DISTINCT FROM figure.copied
     ORDER BY o.id, figure.name
"""  # noqa: S608  the columns are the model's own
_LINES = f"""
    WITH frozen AS (
        SELECT o.id AS order_id, l.position, l.variant_id, l.quantity, l.discount_cents,
               {_CHARGED} AS with_tax, l.line_total_without_tax_cents AS without_tax
          FROM orders o
          JOIN checkouts k ON k.account_id = o.account_id AND k.id = o.checkout_id
          JOIN checkout_line_items l ON l.account_id = k.account_id AND l.checkout_id = k.id
         WHERE o.account_id = %(account)s
    ), sold AS (
        SELECT l.order_id, l.position, l.variant_id, l.quantity, l.discount_cents,
               l.line_total_with_tax_cents AS with_tax, l.line_total_without_tax_cents AS without_tax
          FROM order_line_items l
         WHERE l.account_id = %(account)s
    )
    SELECT COALESCE(s.order_id, f.order_id) AS order_id, COALESCE(s.position, f.position) AS position,
           COALESCE(s.quantity, 0), COALESCE(s.variant_id::text, 'none'),
           COALESCE(s.with_tax, 0), COALESCE(s.without_tax, 0), COALESCE(s.discount_cents, 0),
           COALESCE(f.quantity, 0), COALESCE(f.variant_id::text, 'none'),
           COALESCE(f.with_tax, 0), COALESCE(f.without_tax, 0), COALESCE(f.discount_cents, 0)
      FROM sold s
      FULL JOIN frozen f ON f.order_id = s.order_id AND f.position = s.position
     WHERE (s.quantity, s.variant_id, s.with_tax, s.without_tax, s.discount_cents)
           IS DISTINCT FROM (f.quantity, f.variant_id, f.with_tax, f.without_tax, f.discount_cents)
     ORDER BY order_id, position
"""  # noqa: S608  the expression is constant

CHECKS = (
    Check("checkout {} has {} of {}, but its {} come to {}", _CHECKOUTS),
    Check("order {} has {} {}, but its checkout {} has {}", _ORDERS),
    Check(
        "order {}, line {}: {} of variant {} for {} ({} without tax, {} off), "
        "but the checkout's line has {} of variant {} for {} ({} without tax, {} off)",
        _LINES,
    ),
)
