"""Stock that is running low, as a filter of the list and as a task."""

from django.db.models import F, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.figures import Task, register_task
from commerce.backoffice.filters import ChoiceFilter

# Stock is low if at most this many units can still be sold.
LOW_UNITS = 5

# Only live variants that aren't sold beyond the stock. Reserved and committed units are on hand, but can't be sold.
_SOLD_FROM_STOCK = Q(allow_backorder=False, variant__archived_at__isnull=True, variant__track_inventory=True)
SOLD_OUT = _SOLD_FROM_STOCK & Q(on_hand__lte=F("reserved") + F("committed"))
RUNNING_LOW = _SOLD_FROM_STOCK & Q(on_hand__lte=F("reserved") + F("committed") + LOW_UNITS)


class StockFilter(ChoiceFilter):
    """Levels with few units left, or none."""

    title = gettext_lazy("units left")
    parameter_name = "stock"

    def list_conditions(self) -> dict[str, tuple[str, Q]]:
        return {
            "low": (_("Running low (at most %(units)d)") % {"units": LOW_UNITS}, RUNNING_LOW),
            "out": (_("Sold out"), SOLD_OUT),
        }


register_task(
    Task(
        title=gettext_lazy("Stock running low"),
        icon="production_quantity_limits",
        page="inventory.inventorylevel",
        query={"stock": "low"},
        condition=RUNNING_LOW,
        position=40,
        # All levels are read to find them, which is too much for each page.
        is_counted_everywhere=False,
    )
)
