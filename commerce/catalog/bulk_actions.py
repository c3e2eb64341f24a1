"""What staff can do to several products or variants at once."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from commerce.backoffice.bulk import BulkAction
from commerce.wording import mark

from . import operations
from .models import Product, Variant


def _activate_product(row: Product, *, now: datetime, **_rest: object) -> None:
    operations.update_product(product_id=row.pk, changes={"status": Product.Status.ACTIVE}, now=now)


def _archive_product(row: Product, *, now: datetime, **_rest: object) -> None:
    operations.archive_product(product_id=row.pk, now=now)


def _archive_variant(row: Variant, *, now: datetime, **_rest: object) -> None:
    operations.archive_variant(variant_id=row.pk, now=now)


def _describe_product(product: Any) -> str:
    count = product.live_variants
    return ngettext("%(count)d variant", "%(count)d variants", count) % {"count": count}


ACTIVATE_PRODUCTS = BulkAction(
    name="activate",
    title=_("Activate the selected products"),
    help_text=_("They are shown in the shop. Products that were archived are restored with their variants."),
    submit=_("Activate"),
    done=mark("activated"),
    run=_activate_product,
    describe=_describe_product,
    is_done=lambda product: product.status == Product.Status.ACTIVE,
)
ARCHIVE_PRODUCTS = BulkAction(
    name="archive",
    title=_("Archive the selected products"),
    help_text=_("They and their variants are taken off sale. Activating a product restores it."),
    submit=_("Archive"),
    done=mark("archived"),
    run=_archive_product,
    describe=_describe_product,
    is_done=lambda product: product.status == Product.Status.ARCHIVED,
)
ARCHIVE_VARIANTS = BulkAction(
    name="archive",
    title=_("Archive the selected variants"),
    help_text=_("They are taken off sale, and their SKUs are free for other variants. This can't be undone."),
    submit=_("Archive"),
    done=mark("archived"),
    run=_archive_variant,
    describe=lambda variant: variant.product.title,
    is_done=lambda variant: variant.archived_at is not None,
    is_dangerous=True,
)
