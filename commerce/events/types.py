from django.db import models


class EventType(models.TextChoices):
    """The types of events. Their names are public: clients of the feed and of webhooks rely on them."""

    CHECKOUT_CREATED = "checkout.created"
    CHECKOUT_ABANDONED = "checkout.abandoned"
    CHECKOUT_COMPLETED = "checkout.completed"
    CHECKOUT_PAYMENT_FAILED = "checkout.payment_failed"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_FULFILLED = "order.fulfilled"
    ORDER_PAID = "order.paid"
    VOUCHER_DEPLETED = "voucher.depleted"
    VOUCHER_EXPIRED = "voucher.expired"
    VOUCHER_ISSUED = "voucher.issued"
    VOUCHER_REDEEMED = "voucher.redeemed"
    VOUCHER_REVOKED = "voucher.revoked"
    EMAIL_SENT = "email.sent"
    EMAIL_DELIVERED = "email.delivered"
    EMAIL_OPENED = "email.opened"
    EMAIL_CLICKED = "email.clicked"
    EMAIL_BOUNCED = "email.bounced"
    WEBHOOK_ENDPOINT_DISABLED = "webhook_endpoint.disabled"
