from .pricing import add_pricing, set_pricing
from .products import archive_product, create_product, update_product
from .variants import add_variant, add_variants, archive_variant, update_variant

__all__ = [
    "add_pricing",
    "add_variant",
    "add_variants",
    "archive_product",
    "archive_variant",
    "create_product",
    "set_pricing",
    "update_product",
    "update_variant",
]
