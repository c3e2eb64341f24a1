"""What the parcel and the cancellation of an order must be like, whichever interface they come through."""

from commerce.rules import Fields, http_url, nullable, text

MAX_CARRIER = 64
MAX_TRACKING_NUMBER = 100
MAX_REASON = 1000

PARCEL = Fields(
    optional={
        "carrier": nullable(text(MAX_CARRIER)),
        "tracking_number": nullable(text(MAX_TRACKING_NUMBER)),
        "tracking_url": nullable(http_url),
    }
)
CANCELLATION = Fields(optional={"reason": nullable(text(MAX_REASON))})
