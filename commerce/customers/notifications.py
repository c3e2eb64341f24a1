"""The kinds of email that a customer wants. Each is on until the customer switches it off."""

from commerce.mail import email_folders

from .models import Customer


def wants_email(customer: Customer, key: str) -> bool:
    return customer.notification_preferences.get(key) is not False


def read_preferences(customer: Customer) -> dict[str, bool]:
    """Whether the customer wants each kind of email."""
    return {key: wants_email(customer, key) for key in email_folders()}
