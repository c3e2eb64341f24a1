"""`POST /webhooks/stripe/{account_id}`: Stripe's notification that a session has changed."""

from collections.abc import Mapping

import orjson
from django.http import HttpRequest
from django.urls import path

from commerce.errors import MalformedRequest
from commerce.formats import parse_id
from commerce.payments.errors import InvalidSignature
from commerce.payments.events import GatewayEvent, make_event_view
from commerce.tenancy.scope import current_account_id

from .connector import WEBHOOK_SECRET

# The tolerance of Stripe's own libraries. It bounds how long a recorded request can be sent again.
TOLERANCE_S = 300
_TYPES = frozenset(
    {
        "checkout.session.completed",
        "checkout.session.expired",
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
    }
)


def _read_event(request: HttpRequest, secret: str) -> GatewayEvent | None:
    """Return the event; None if it isn't about a session of this account. Raises `InvalidSignature`, `MalformedRequest`."""
    # Loaded with the first event: it takes a tenth of a second and 7 MB.
    import stripe

    header = request.headers.get("Stripe-Signature", "")
    # Before the body is parsed, so that only Stripe can have it parsed.
    try:
        stripe.WebhookSignature.verify_header(request.body, header, secret, TOLERANCE_S)
    except (stripe.SignatureVerificationError, TypeError, ValueError) as error:
        # The library's refusal, or its errors for a header or body with unexpected characters.
        raise InvalidSignature from error
    try:
        event = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequest("The body is not a JSON object.") from error
    if not isinstance(event, dict) or not _is_id(event.get("id")):
        raise MalformedRequest("This is no event of Stripe.")
    if event.get("type") not in _TYPES:
        return None
    session = _get_object(_get_object(event, "data"), "object")
    metadata = _get_object(session, "metadata")
    # The owner of the Stripe account may have created the session in another way, with any metadata.
    attempt_id, reference = parse_id(str(metadata.get("attempt_id"))), session.get("id")
    is_ours = metadata.get("account_id") == str(current_account_id())
    if not is_ours or attempt_id is None or not _is_id(reference):
        return None
    return GatewayEvent(key=f"stripe/{event['id']}", attempt_id=attempt_id, reference=str(reference))


def _get_object(outer: Mapping[str, object], name: str) -> dict[str, object]:
    inner = outer.get(name)
    return inner if isinstance(inner, dict) else {}


def _is_id(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable() and 0 < len(value) <= 200


receive = make_event_view(_read_event, secret_setting=WEBHOOK_SECRET)
urlpatterns = [path("webhooks/stripe/<id:account_id>", receive)]
