"""Bodies of discounts, and their stored rows."""

from discounts.models import Discount

PERCENTAGE = {
    "type": "discount_code",
    "code": "WELCOME",
    "title": "Welcome",
    "value_mode": "percentage",
    "value_amount": 1000,
}
DEFAULTS = {
    "code": None,
    "value_mode": None,
    "value_amount": None,
    "currency": None,
    "applies_to": "order",
    "product_ids": [],
    "variant_ids": [],
    "market_ids": [],
    "stackable": False,
    "minimum_order_subtotal_cents": "0",
    "customer_eligibility": "all",
    "customer_tags": [],
    "segment_ids": [],
    "customer_ids": [],
    "first_order_only": False,
    "usage_limit_total": None,
    "usage_limit_per_customer": None,
    "usage_count": 0,
    "starts_at": None,
    "ends_at": None,
    "bogo_config": None,
    "bulk_tiers": None,
    "voucher_id": None,
    "status": "active",
    "effective_status": "active",
    "archived_at": None,
}
BOGO = {"buy": {"quantity": 2}, "get": {"quantity": 1}, "value_mode": "free"}
TIERS = {"scope": "line", "tiers": [{"min_quantity": 10, "value_mode": "percentage", "value_amount": 500}]}


def rows_of(shop):
    with shop.scope():
        return list(Discount.objects.order_by("pk"))


def stored(shop, discount):
    with shop.scope():
        return Discount.objects.values().get(pk=discount.pk)
