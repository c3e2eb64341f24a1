"""The newest version, which uses the names of the code."""

from typing import Any

from accounts.api.serializers import IssuedKeyOutput, MarketInput, MarketOutput
from carts.api.serializers import CartLineOutput, CartOutput, LineInput
from checkouts.api.serializers import CheckoutInput
from commerce.catalog.api.serializers import ProductInput, VariantInput
from commerce.versions import VersionChange


class MarketName(VersionChange):
    schemas = (MarketInput, MarketOutput)
    renamed = {"name": "title"}


class VariantSku(VersionChange):
    schemas = (VariantInput,)
    renamed = {"sku": "article"}


class ProductVariants(VersionChange):
    schemas = (ProductInput,)
    renamed = {"variants": "articles"}


class CartLines(VersionChange):
    schemas = (CartOutput,)
    renamed = {"line_items": "lines"}


class LineQuantity(VersionChange):
    """Quantities were text."""

    schemas = (LineInput, CartLineOutput)
    renamed = {"quantity": "units"}

    def downgrade(self, payload: dict[str, Any]) -> None:
        super().downgrade(payload)
        payload["units"] = str(payload["units"])

    def upgrade(self, payload: dict[str, Any]) -> None:
        super().upgrade(payload)
        if isinstance(payload.get("quantity"), str):
            payload["quantity"] = int(payload["quantity"])

    def downgrade_schema(self, schema: dict[str, Any]) -> None:
        super().downgrade_schema(schema)
        schema["properties"]["units"] = {"type": "string"}


class KeySecret(VersionChange):
    schemas = (IssuedKeyOutput,)
    renamed = {"secret": "token"}


class CheckoutCart(VersionChange):
    schemas = (CheckoutInput,)
    renamed = {"cart_token": "cart"}


class PaidOrder(VersionChange):
    events = ("order.paid",)
    renamed = {"order_id": "order"}


CHANGES = (
    MarketName,
    VariantSku,
    ProductVariants,
    CartLines,
    LineQuantity,
    KeySecret,
    CheckoutCart,
    PaidOrder,
)
