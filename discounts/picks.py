"""Pick lists of a discount's ids, and columns that name the rows where they can't be edited."""

from collections.abc import Callable
from functools import cache

from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from commerce.backoffice.forms import get_column
from commerce.backoffice.picks import Choices, Kind
from commerce.customers.models import normalise_email

from .models import Discount
from .queries import ID_MODELS

KINDS = {
    "product_ids": Kind(
        ID_MODELS["product_ids"],
        keys={"handle": Q(), "variants__sku": Q(variants__archived_at=None)},
        keys_label=_("Add many by SKU or handle, one on each line"),
    ),
    "variant_ids": Kind(
        ID_MODELS["variant_ids"],
        keys={"sku": Q(archived_at=None)},
        keys_label=_("Add many by SKU, one on each line"),
    ),
    "market_ids": Kind(
        ID_MODELS["market_ids"],
        keys={"handle": Q()},
        keys_label=_("Add many by handle, one on each line"),
        is_usually_few=True,
    ),
    "segment_ids": Kind(
        ID_MODELS["segment_ids"],
        keys={"handle": Q()},
        keys_label=_("Add many by handle, one on each line"),
        is_usually_few=True,
    ),
    "customer_ids": Kind(
        ID_MODELS["customer_ids"],
        keys={"normalised_email": Q()},
        keys_label=_("Add many by email, one on each line"),
        normalise=normalise_email,
    ),
}


def list_visible(request: HttpRequest) -> frozenset[str]:
    """Return the kinds of rows that the member may see."""
    return frozenset(name for name, kind in KINDS.items() if kind.is_visible_to(request))


# Must be the same function each time, because Django compares read-only fields with the page's.
@cache
def make_titles_column(name: str, *, is_visible: bool) -> Callable[[Discount], str]:
    """Return a column that names the rows of a list of ids."""

    @display(description=capfirst(get_column(Discount, name).verbose_name))
    def column(discount: Discount) -> str:
        ids = getattr(discount, name)
        choices = Choices(KINDS[name], is_visible=is_visible, list_ids=lambda: ids)
        return format_html_join("", "<div>{}</div>", [(choices.title(row_id),) for row_id in ids]) or "-"

    return column
