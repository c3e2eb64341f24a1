import orjson
from django.http import HttpRequest
from django.urls import path

from commerce.payments.errors import InvalidSignature
from commerce.payments.events import GatewayEvent, make_event_view
from commerce.rest.openapi import webhook_operation

from .connector import API_KEY


def _read(request: HttpRequest, secret: str) -> GatewayEvent | None:
    if request.headers.get("X-Key") != secret:
        raise InvalidSignature
    event = orjson.loads(request.body)
    if event["about"] != "payment":
        return None
    return GatewayEvent(
        key=f"wallet/{event['id']}", attempt_id=int(event["attempt_id"]), reference=event["payment"]
    )


urlpatterns = [path("webhooks/wallet/<id:account_id>", make_event_view(_read, secret_setting=API_KEY))]

DOCUMENTS = {
    "/webhooks/wallet/{account_id}": webhook_operation(
        "webhooks_wallet",
        "An event about a payment.",
        summary="Receive an event of the wallet",
        security={"WalletKey": []},
        parameters=[],
        request={"type": "object"},
        answer={"type": "object"},
        refuses=[InvalidSignature],
    )
}
