from accounts.errors import HandleTaken as AccountHandleTaken
from commerce.errors import Refusal


class HandleTaken(AccountHandleTaken):
    # Nothing looks for the handle before: only the constraints can decide between two simultaneous requests.
    constraints = ("shipping_zones_handle", "shipping_methods_handle")


class ZoneInUse(Refusal):
    status = 409
    code = "zone_in_use"
    title = "The zone has methods"


class RateModeNotAvailable(Refusal):
    status = 422
    code = "rate_mode_not_available"
    title = "Rates from the carrier's API aren't available yet"
    constraints = ("shipping_methods_rate_mode",)


class RateModeConflict(Refusal):
    """Carries `rate_ids`, the conflicting rates."""

    status = 409
    code = "rate_mode_conflict"
    title = "The method has rates that its new mode doesn't allow"


class FlatRateExists(Refusal):
    status = 409
    code = "flat_rate_exists"
    title = "The method already has a flat rate in this currency"
    # Only the database can tell: two requests may add a rate at once.
    constraints = ("shipping_rates_one_flat",)


class TooManyRates(Refusal):
    """Carries `max_rates`."""

    status = 422
    code = "too_many_rates"
    title = "The method has the maximum number of rates"


class RateMustBeFree(Refusal):
    status = 422
    code = "rate_must_be_free"
    title = "A rate of a free method must cost 0"


class ShippingRateNotAvailable(Refusal):
    status = 409
    code = "shipping_rate_not_available"
    title = "This shipping rate doesn't apply, or no longer applies"


class CurrencyMismatch(Refusal):
    """Carries `currency`, the expected one, and `rate_currency`."""

    status = 409
    code = "currency_mismatch"
    title = "The shipping rate is in another currency"


class PickupPointRequired(Refusal):
    status = 422
    code = "pickup_point_required"
    title = "The shipping method needs a pickup point"


class PickupPointMismatch(Refusal):
    status = 422
    code = "pickup_point_mismatch"
    title = "The pickup point can't be used with the shipping method"


class PickupPointClosed(Refusal):
    status = 409
    code = "pickup_point_closed"
    title = "The pickup point is closed"
