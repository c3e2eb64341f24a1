"""The phases of a checkout, and the operations allowed in each."""

from django.db.models import TextChoices


class Phase(TextChoices):
    PENDING = "pending"
    ADDRESS = "address"
    SHIPPING = "shipping"
    PAYMENT = "payment"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    ABANDONED = "abandoned"


FINAL_PHASES = (Phase.COMPLETED, Phase.ABANDONED)
OPEN_PHASES = tuple(phase for phase in Phase if phase not in FINAL_PHASES)

# A step may be repeated in its own phase; the only way back is from failed to payment.
ALLOWED_PHASES: dict[str, tuple[Phase, ...]] = {
    "address": (Phase.PENDING, Phase.ADDRESS),
    "shipping": (Phase.ADDRESS, Phase.SHIPPING),
    # Not later, because choosing the payment method freezes the totals.
    "discount": (Phase.PENDING, Phase.ADDRESS, Phase.SHIPPING),
    "vat": (Phase.PENDING, Phase.ADDRESS, Phase.SHIPPING),
    # After a failed payment, another method may be tried.
    "payment_method": (Phase.SHIPPING, Phase.PAYMENT, Phase.FAILED),
    "start_payment": (Phase.PAYMENT,),
    "confirm": (Phase.PROCESSING,),
    "complete": (Phase.PROCESSING,),
}
