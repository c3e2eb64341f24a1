"""The kinds of email that a customer wants. Each is on until the customer switches it off."""

from commerce.mail import email_folders

from .models import Customer


def wants_email(customer: Customer, key: str) -> bool:
    # Only what was switched off is stored as false: kinds that are added later are on.
    return customer.notification_preferences.get(key) is not False


def read_preferences(customer: Customer) -> dict[str, bool]:
    """Return for each kind of email whether the customer wants it."""
    return {key: wants_email(customer, key) for key in email_folders()}
