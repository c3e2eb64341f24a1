"""Summarises API answers in a few words."""

from config.stack.client import Json


def money(cents: str, currency: str) -> str:
    """Format an amount. Assumes a currency with two decimals."""
    units, rest = divmod(int(cents), 100)
    return f"{units}.{rest:02} {currency}"


def products(answer: Json) -> str:
    titles = [product["title"] for product in answer["products"]]
    return f"{len(titles)} products: {', '.join(titles[:3])}{', ...' if len(titles) > 3 else ''}"


def cart(answer: Json) -> str:
    cart, totals = answer["cart"], answer["cart"]["totals"]
    return f"{totals['item_count']} items, {money(totals['total_cents'], cart['currency'])}"


def checkout(answer: Json) -> str:
    checkout = answer["checkout"]
    ready = ", ready to complete" if checkout["ready_to_complete"] else ""
    return f"{checkout['phase']}, {money(checkout['totals']['total_cents'], checkout['currency'])}{ready}"


def quotes(answer: Json) -> str:
    options = [
        f"{option['method']['name']} {money(option['price_cents'], option['currency'])}"
        for option in answer["quotes"]
    ]
    return ", ".join(options) or "no shipping option"


def pickup_points(answer: Json) -> str:
    return ", ".join(f"{point['name']}, {point['city']}" for point in answer["pickup_points"]) or "none"


def payment_attempt(answer: Json) -> str:
    attempt = answer["payment_attempt"]
    amount = money(attempt["amount_cents"], attempt["currency"])
    return f"{attempt['payment_method']}, {amount}, {attempt['status']}"


def completion(answer: Json) -> str:
    return f"{answer['checkout']['phase']}, order id {answer['checkout']['order_id']}"


def order(answer: Json) -> str:
    order = answer["order"]
    return f"number {order['number']}, {order['status']}, {order['payment_status']}"


def delivery(answer: Json) -> str:
    delivery = answer["email_delivery"]
    return f"{delivery['status']} to {delivery['to_email']}: {delivery['subject']}"


def receipt(order: Json) -> str:
    """Format the order's lines and charges as a table. With prices without tax, the tax has its own line."""
    kind = "with_tax" if order["prices_include_tax"] else "without_tax"
    rows = [
        (f"{line['quantity']} x {line['title']}", line[f"line_total_{kind}_cents"])
        for line in order["line_items"]
    ]
    totals = order["totals"]
    rows.append(("Shipping", totals["shipping_cents"]))
    rows.append(("Cash on delivery", totals["cod_fee_cents"]))
    if not order["prices_include_tax"]:
        rows.append(("Tax", totals["tax_cents"]))
    rows.append(("Total", totals["total_cents"]))
    return "\n".join(
        f"  {label:<48.48}{money(cents, order['currency']):>14}"
        for label, cents in rows
        if cents != "0" or label == "Total"
    )
