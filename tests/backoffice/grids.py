"""The addresses of grids, and what their forms send."""

from commerce.catalog.models import VariantPricing

PRICES = "catalog/variant/prices/"
COMPARED = "catalog/variant/compared-prices/"
STOCK = "inventory/inventorylevel/grid/"


def cell(row, column):
    return f"cell-{row.pk}-{column.pk}"


def sent_by(page, **changes):
    """Return what a browser sends for a grid, with some cells changed."""
    form = page.context["form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    options = page.context["options"]
    if options is not None:
        sent |= {field.html_name: field.value() for field in options}
    return sent | {"_shown": page.context["shown"]} | changes


def confirmed(preview):
    return preview.context["sent"] | {"_shown": preview.context["shown"], "save": "1"}


def prices_of(shop):
    with shop.scope():
        rows = VariantPricing.objects.order_by("variant_id", "market_id")
        return list(rows.values_list("variant_id", "market__currency", "price_cents"))
