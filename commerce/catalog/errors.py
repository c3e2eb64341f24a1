from commerce.errors import Refusal


class ProductHandleTaken(Refusal):
    status = 409
    code = "handle_taken"
    title = "The handle is taken"
    constraints = ("products_handle",)


class SkuTaken(Refusal):
    status = 409
    code = "sku_taken"
    title = "Another variant has this SKU"
    constraints = ("variants_sku",)


class ProductArchived(Refusal):
    status = 409
    code = "product_archived"
    title = "The product is archived"


class TooManyVariants(Refusal):
    """Carries `max_variants`."""

    status = 422
    code = "too_many_variants"
    title = "The product has the maximum number of variants"
