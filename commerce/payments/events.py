"""Receives notifications of gateways. An event is only a hint: the gateway is then asked for the payment's state."""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from commerce.configuration.queries import read_setting
from commerce.errors import Refusal
from commerce.outbox.operations import enqueue
from commerce.rest.problems import allow_methods, as_refusal, refusal_response
from commerce.tenancy.scope import account_scope

from .errors import InvalidSignature


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayEvent:
    """Says that a payment may have changed. `key` is unique among the events of all gateways, such as `stripe/evt_1`."""

    key: str
    attempt_id: int
    # The gateway's name of the payment.
    reference: str


def make_event_view(
    read: Callable[[HttpRequest, str], GatewayEvent | None], *, secret_setting: str
) -> Callable[..., HttpResponse]:
    """Make a view that takes a gateway's notifications, for a URL that names the account.

    `read` gets the request and the account's secret. It verifies the request, and returns its event; None if it is
    about something else. It may raise refusals. The payment is settled by a dispatch, which asks the gateway, even if
    the customer never returns. The dispatch has the event's key, so an event delivered twice creates one dispatch.
    """

    @allow_methods("POST")
    def receive(request: HttpRequest, account_id: int) -> HttpResponse:
        try:
            with account_scope(account_id):
                # An account that doesn't exist would otherwise get the installation's secret.
                secret = read_setting(secret_setting) if _is_account(account_id) else ""
                if not secret:
                    # As for a wrong signature, so that nobody learns which accounts exist and use the gateway.
                    raise InvalidSignature
                event = read(request, str(secret))
                if event is not None:
                    enqueue(
                        task_name="settle_payment",
                        payload={"attempt_id": event.attempt_id, "reference": event.reference},
                        idempotency_key=event.key,
                        now=timezone.now(),
                    )
        except (Refusal, RequestDataTooBig, DatabaseError, InterfaceError) as error:
            refusal = as_refusal(error)
            if refusal is None:
                raise
            return refusal_response(refusal, request)
        return JsonResponse({"received": True} | ({} if event else {"ignored": True}))

    return receive


def _is_account(account_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM accounts WHERE id = %s)", [account_id])
        return cursor.fetchone()[0]
