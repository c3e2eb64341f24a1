"""The messages that a customer may opt out of, by the key of their template."""

from .models import Customer

TEMPLATE_KEYS = ("order.confirmation", "order.shipped", "order.cancelled", "voucher.issued")


def preferences_of(customer: Customer) -> dict[str, bool]:
    """Whether the customer wants each message; what they have not said no to, they get."""
    return {key: customer.notification_preferences.get(key, True) for key in TEMPLATE_KEYS}
