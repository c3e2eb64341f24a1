"""Actions on several discounts at once."""

from datetime import datetime

from django.utils.translation import gettext_lazy as _

from commerce.backoffice.bulk import BulkAction
from commerce.wording import mark

from . import operations
from .models import Discount


def _set_status(row: Discount, status: Discount.Status) -> None:
    operations.update_discount(discount_id=row.pk, changes={"status": status})


def _enable(row: Discount, **_rest: object) -> None:
    _set_status(row, Discount.Status.ACTIVE)


def _disable(row: Discount, **_rest: object) -> None:
    _set_status(row, Discount.Status.DISABLED)


def _archive(row: Discount, *, now: datetime, **_rest: object) -> None:
    operations.archive_discount(discount_id=row.pk, now=now)


def _describe(discount: Discount) -> str:
    return discount.code or str(_("automatic"))


ENABLE_DISCOUNTS = BulkAction(
    name="enable",
    title=_("Enable the selected discounts"),
    help_text=_("They apply again, within their dates and limits."),
    submit=_("Enable"),
    done=mark("enabled"),
    run=_enable,
    describe=_describe,
    is_done=lambda discount: discount.status == Discount.Status.ACTIVE,
)
DISABLE_DISCOUNTS = BulkAction(
    name="disable",
    title=_("Disable the selected discounts"),
    help_text=_("They no longer apply until they are enabled again."),
    submit=_("Disable"),
    done=mark("disabled"),
    run=_disable,
    describe=_describe,
    is_done=lambda discount: discount.status == Discount.Status.DISABLED,
)
ARCHIVE_DISCOUNTS = BulkAction(
    name="archive",
    title=_("Archive the selected discounts"),
    help_text=_(
        "They end, and their codes are free for others. Gift cards among them end too. This can't be undone."
    ),
    submit=_("Archive"),
    done=mark("archived"),
    run=_archive,
    describe=_describe,
    is_done=lambda discount: discount.status == Discount.Status.ARCHIVED,
    is_dangerous=True,
)
