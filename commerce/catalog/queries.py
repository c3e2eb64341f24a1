from django.db.models import F, Prefetch, Q, QuerySet, Sum
from django.db.models.expressions import Combinable

from commerce.queries import get_or_not_found, sum_up
from commerce.sizes import BytesOf

from .models import Product, Variant, VariantPricing

# The columns in an answer: of a variant without its title, and of a price.
_VARIANT_BYTES = 400
_PRICE_BYTES = 100


def products(*, status: str | None = None, handle: str | None = None) -> QuerySet[Product]:
    """The products of the account in scope, with their variants and prices."""
    wanted = {"status": status, "handle": handle}
    found = Product.objects.filter(**{name: value for name, value in wanted.items() if value})
    return found.prefetch_related(_prefetch_variants(VariantPricing.objects.all()))


def get_product(product_id: int) -> Product:
    """A product of the account in scope; raises `NotFound`."""
    return get_or_not_found(Product.objects, pk=product_id)


def get_product_with_variants(product_id: int) -> Product:
    """A product with its variants and their prices; raises `NotFound`."""
    return get_or_not_found(products(), pk=product_id)


def offered_products(*, market_id: int | None = None, handle: str | None = None) -> QuerySet[Product]:
    """The products shown in the storefront: active ones, with their prices in one market or in all."""
    found = Product.objects.filter(status=Product.Status.ACTIVE)
    if handle is not None:
        found = found.filter(handle=handle)
    return found.prefetch_related(_prefetch_variants(_filter_pricing(market_id)))


def get_offered_product(product_id: int, *, market_id: int | None = None) -> Product:
    """An active product; raises `NotFound`."""
    return get_or_not_found(offered_products(market_id=market_id), pk=product_id)


def variants_of(product: Product) -> QuerySet[Variant]:
    """The variants of a product with their prices."""
    return _exclude_archived(product.variants.all()).prefetch_related(
        _prefetch_pricing(VariantPricing.objects.all())
    )


def bytes_of_variants(*, market_id: int | None = None) -> Combinable:
    """The size of a product's variants in an answer, for each product of a page; prices in one market or in all."""
    variants = _exclude_archived(Variant.objects.all())
    prices = _filter_pricing(market_id).filter(_is_listed("variant__"))
    titles = sum_up(variants, "product", Sum(BytesOf("title") + _VARIANT_BYTES))
    return titles + sum_up(prices, "variant__product") * _PRICE_BYTES


def bytes_of_pricing() -> Combinable:
    """The size of a variant's prices in an answer, for each variant of a page."""
    return sum_up(VariantPricing.objects.all(), "variant") * _PRICE_BYTES


def get_variant(variant_id: int) -> Variant:
    """A variant of the account in scope, also an archived one; raises `NotFound`."""
    # Carts and orders still refer to archived ones.
    return get_or_not_found(Variant.objects, pk=variant_id)


def get_variant_with_pricing(variant_id: int) -> Variant:
    """A variant with its prices, also an archived one; raises `NotFound`."""
    found = Variant.objects.filter(pk=variant_id)
    return get_or_not_found(found.prefetch_related(_prefetch_pricing(VariantPricing.objects.all())))


def get_pricing(*, variant_id: int, market_id: int) -> VariantPricing:
    """The price of a variant in a market; raises `NotFound`."""
    return get_or_not_found(VariantPricing.objects, variant_id=variant_id, market_id=market_id)


def _exclude_archived(variants: QuerySet[Variant]) -> QuerySet[Variant]:
    """Leave out variants that were archived on their own rather than together with their product."""
    return variants.filter(_is_listed())


def _is_listed(path: str = "") -> Q:
    """The condition of `_exclude_archived`, where `path` leads to the variant."""
    archived_at = f"{path}archived_at"
    return Q(**{f"{archived_at}__isnull": True}) | Q(**{archived_at: F(f"{path}product__archived_at")})


def _filter_pricing(market_id: int | None) -> QuerySet[VariantPricing]:
    """The prices in one market, or in all."""
    pricing = VariantPricing.objects.all()
    return pricing if market_id is None else pricing.filter(market_id=market_id)


def _prefetch_variants(pricing: QuerySet[VariantPricing]) -> Prefetch:
    found = _exclude_archived(Variant.objects.order_by("pk"))
    return Prefetch("variants", found.prefetch_related(_prefetch_pricing(pricing)))


def _prefetch_pricing(pricing: QuerySet[VariantPricing]) -> Prefetch:
    return Prefetch("pricing", pricing.order_by("market_id"))
