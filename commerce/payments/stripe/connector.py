from commerce.configuration.registry import ServiceKey, Text
from commerce.payments.connectors import Connector, Settings
from commerce.payments.gateway import Gateway
from commerce.wording import mark

SECRET_KEY = "commerce.payments.stripe_secret_key"  # noqa: S105  the setting's name
WEBHOOK_SECRET = "commerce.payments.stripe_webhook_secret"  # noqa: S105  as above


def _make_gateway(settings: Settings) -> Gateway:
    # It imports Stripe's library, which only processes that take payments need.
    from .gateway import StripeCheckout

    return StripeCheckout(secret_key=str(settings[SECRET_KEY]))


STRIPE = Connector(
    code="stripe",
    is_offered=lambda settings: bool(settings[SECRET_KEY]),
    gateway=_make_gateway,
    settings=(
        ServiceKey(
            name=SECRET_KEY,
            title=mark("Stripe: secret key"),
            default="",
            is_secret=True,
            help=mark("Offers cards through Stripe, charged for the owner of this key."),
        ),
        Text(
            name=WEBHOOK_SECRET,
            title=mark("Stripe: webhook secret"),
            default="",
            is_secret=True,
            help=mark("Verifies Stripe's events. Without it they are refused."),
        ),
    ),
    urls="commerce.payments.stripe.webhook",
    documents="commerce.payments.stripe.webhook_document.DOCUMENTS",
)
