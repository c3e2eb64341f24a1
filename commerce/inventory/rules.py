"""What a location and an adjustment of stock must be like, whichever interface they come through."""

from commerce.rules import Fields, boolean, choice, handle, integer, refuse, row_id, text

from .models import InventoryAdjustment

MAX_NAME = 200
# What the column takes.
MAX_PRIORITY = 2_147_483_647
MAX_DELTA = 1_000_000_000


def _check_delta(value: object) -> int:
    delta = integer(min_value=-MAX_DELTA, max_value=MAX_DELTA)(value)
    # It would leave an entry in the log that says nothing.
    if delta == 0:
        refuse("zero", "Must not be 0.")
    return delta


LOCATION = Fields(
    required={"handle": handle, "name": text(MAX_NAME)},
    optional={"priority": integer(min_value=1, max_value=MAX_PRIORITY), "is_active": boolean},
)

ADJUSTMENT = Fields(
    required={
        "variant_id": row_id,
        "location_id": row_id,
        "delta": _check_delta,
        "reason": choice(InventoryAdjustment.Reason.values),
    }
)
