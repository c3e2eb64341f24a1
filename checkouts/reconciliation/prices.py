"""Recompute shipping, fee and tax of checkouts in exact numbers: docs/pricing.md in SQL."""

from .checks import Check

# Halves are rounded up by adding half of the divisor before div() drops the fraction; all is doubled to stay in integers.
# In `numeric`, since the product of a large amount and its rate exceeds a bigint.
_WITHIN = "div(2 * ({amount})::numeric * ({rate}) + 10000 + ({rate}), 2 * (10000 + ({rate})))"
_UPON = "div(2 * ({amount})::numeric * ({rate}) + 10000, 20000)"


def _tax_sql(amount: str, rate: str) -> str:
    """Return the SQL of the tax in a gross amount or on a net one, rounded half up like `commerce.money`."""
    within, upon = _WITHIN.format(amount=amount, rate=rate), _UPON.format(amount=amount, rate=rate)
    return f"CASE WHEN p.prices_include_tax THEN {within} ELSE {upon} END"


def _charged_sql(price: str) -> str:
    """Return the SQL of a listed price as charged: without its tax under a reverse charge."""
    within = _WITHIN.format(amount=price, rate="p.rate_bp")
    return f"CASE WHEN p.is_untaxed AND p.prices_include_tax THEN {price} - {within} ELSE {price} END"


_FIGURES = f"""
    WITH p AS (
        SELECT k.id, k.prices_include_tax, k.shipping_discount_cents, k.shipping_tax_rate_bp AS rate_bp,
               COALESCE((k.vat->>'reverse_charge')::boolean, false) AS is_untaxed,
               COALESCE((k.shipping_method->>'price_cents')::bigint, 0) AS shipping,
               CASE WHEN k.payment_method = ANY(%(fee_methods)s::text[])
                    THEN COALESCE((k.shipping_method->>'cod_fee_cents')::bigint, 0) ELSE 0 END AS fee
          FROM checkouts k
         WHERE k.account_id = %(account)s
    ), charged AS (
        SELECT p.id, p.prices_include_tax, CASE WHEN p.is_untaxed THEN 0 ELSE p.rate_bp END AS rate_bp,
               {_charged_sql("p.shipping")} - p.shipping_discount_cents AS shipping, {_charged_sql("p.fee")} AS fee
          FROM p
    ), taxed AS (
        SELECT p.id, p.shipping, {_tax_sql("p.shipping", "p.rate_bp")} AS shipping_tax,
               p.fee, {_tax_sql("p.fee", "p.rate_bp")} AS fee_tax
          FROM charged p
    ), lines AS (
        SELECT l.checkout_id,
               sum(CASE WHEN p.is_untaxed THEN 0
                        WHEN l.discount_cents = 0 THEN l.line_tax_cents
                        WHEN p.prices_include_tax
                        THEN {_WITHIN.format(amount="l.line_total_with_tax_cents - l.discount_cents", rate="l.tax_rate_bp")}
                        ELSE {_UPON.format(amount="l.line_total_without_tax_cents - l.discount_cents", rate="l.tax_rate_bp")}
                   END) AS tax
          FROM checkout_line_items l
          JOIN p ON p.id = l.checkout_id
         WHERE l.account_id = %(account)s
         GROUP BY l.checkout_id
    )
    SELECT k.id, figure.name, figure.said, figure.cents
      FROM checkouts k
      JOIN taxed t ON t.id = k.id
      LEFT JOIN lines l ON l.checkout_id = k.id
     CROSS JOIN LATERAL (VALUES
           ('shipping_cents', k.shipping_cents, t.shipping), ('shipping_tax_cents', k.shipping_tax_cents, t.shipping_tax),
           ('cod_fee_cents', k.cod_fee_cents, t.fee), ('cod_fee_tax_cents', k.cod_fee_tax_cents, t.fee_tax),
           ('tax_cents', k.tax_cents, COALESCE(l.tax, 0) + t.shipping_tax + t.fee_tax)
           ) AS figure (name, said, cents)
     WHERE k.account_id = %(account)s AND figure.said <> figure.cents
     ORDER BY k.id, figure.name
"""  # noqa: S608  the expressions are constant
# In the market's mode, a line costs the unit price times the units. The other mode is computed from the whole line.
_LINES = """
    SELECT k.id, l.position, l.quantity,
           CASE WHEN k.prices_include_tax THEN l.unit_price_with_tax_cents ELSE l.unit_price_without_tax_cents END,
           CASE WHEN k.prices_include_tax THEN l.line_total_with_tax_cents ELSE l.line_total_without_tax_cents END
      FROM checkouts k
      JOIN checkout_line_items l ON l.account_id = k.account_id AND l.checkout_id = k.id
     WHERE k.account_id = %(account)s
       AND l.quantity::numeric * l.unit_price_with_tax_cents <> l.line_total_with_tax_cents
       AND l.quantity::numeric * l.unit_price_without_tax_cents <> l.line_total_without_tax_cents
     ORDER BY k.id, l.position
"""

CHECKS = (
    Check("checkout {} has {} of {}, but its prices come to {}", _FIGURES),
    Check("checkout {}, line {}: {} units at {} don't come to {}", _LINES),
)
