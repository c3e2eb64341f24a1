"""Bounds the size of a product with its variants and prices, as an answer about a product contains all of them."""

from commerce.catalog.models import Product
from commerce.catalog.queries import bytes_of_variants
from commerce.errors import FieldError, ValidationFailed
from commerce.paging import MAX_PAGE_BYTES
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.wording import Wording

# With 100 variants, they can have prices in 390 markets; with 2,000 variants, in about 16.
MAX_PRODUCT_BYTES = MAX_PAGE_BYTES


def lock_product(product_id: int) -> Product:
    """Lock a product, so that requests that add to it do so one at a time, and each sees the size with all others.

    Raises `NotFound`.
    """
    return get_or_not_found(lock(Product.objects.all()), pk=product_id)


def require_size(product: Product, *, field: str) -> None:
    """Raise `TooLarge` for this field if the product, which the caller has locked and changed, is too large now."""
    measured = Product.objects.filter(pk=product.pk).annotate(bytes_of_variants=bytes_of_variants())
    if measured.values_list("bytes_of_variants", flat=True).get() > MAX_PRODUCT_BYTES:
        detail = Wording(
            "The product's variants and prices would take more than %(bytes)s bytes.", bytes=MAX_PRODUCT_BYTES
        )
        raise ValidationFailed.of_errors([FieldError(field, "too_large", detail)])
