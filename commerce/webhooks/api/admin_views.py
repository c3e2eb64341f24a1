from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.errors import TooManyOutsideCalls, ValidationFailed
from commerce.outside.addresses import LOOKUP_TIMEOUT_S, AddressRefused
from commerce.outside.http import check_url, needs_lookup
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from commerce.waiting import Call, waiting_call
from commerce.webhooks import operations, queries
from commerce.webhooks.errors import EndpointExists, TooManyEndpoints

from . import serializers as shapes


class EndpointsViewSet(AdminViewSet):
    """URLs that receive the shop's events, each signed by the rules of Standard Webhooks, and the log of deliveries. An
    event is sent again until the endpoint answers with 2xx, up to five times in about three hours.
    """

    area = "events"
    # Null in answers that are replayed (docs/decisions/0004).
    secret_fields = ("secret",)
    # They resolve the host of a URL.
    unscoped_actions = ("create", "update")

    @answers(many("webhook_endpoints", shapes.WebhookEndpointOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List webhook endpoints.

        Newest first.
        """
        page = newest_first(queries.endpoints(), self.cursor)
        return Response(page.answer("webhook_endpoints", shapes.WebhookEndpointOutput.of))

    @answers(
        one("webhook_endpoint", shapes.WebhookEndpointWithSecretOutput),
        request=shapes.WebhookEndpointInput,
        status=201,
        refuses=(EndpointExists, TooManyEndpoints, TooManyOutsideCalls),
    )
    def create(self, request: Request) -> Response:
        """Add a webhook endpoint.

        The answer has the secret that signs its messages, which can't be shown again; it is null if the answer is
        replayed. Messages have the API version of this request, for ever.
        """
        fields = self.valid(shapes.WebhookEndpointInput)
        self._require_callable(fields)
        with self.scope():
            endpoint = operations.create_endpoint(fields=fields, version=self.api_version)
        return Response({"webhook_endpoint": shapes.WebhookEndpointWithSecretOutput.of(endpoint)}, status=201)

    @answers(one("webhook_endpoint", shapes.WebhookEndpointOutput))
    def retrieve(self, request: Request, webhook_endpoint_id: int) -> Response:
        """Show a webhook endpoint.

        Without its secret.
        """
        return Response(
            {"webhook_endpoint": shapes.WebhookEndpointOutput.of(queries.get_endpoint(webhook_endpoint_id))}
        )

    @answers(
        one("webhook_endpoint", shapes.WebhookEndpointOutput),
        request=shapes.WebhookEndpointChanges,
        partial=True,
        refuses=(EndpointExists, TooManyOutsideCalls),
    )
    def update(self, request: Request, webhook_endpoint_id: int) -> Response:
        """Change a webhook endpoint.

        Only the fields that are sent change. `status` pauses it, and activates it again after a pause or after
        failures.
        """
        changes = self.valid(shapes.WebhookEndpointChanges, partial=True)
        self._require_callable(changes)
        with self.scope():
            endpoint = operations.update_endpoint(
                endpoint_id=webhook_endpoint_id, changes=changes, now=timezone.now()
            )
        return Response({"webhook_endpoint": shapes.WebhookEndpointOutput.of(endpoint)})

    @answers(None, status=204)
    def destroy(self, request: Request, webhook_endpoint_id: int) -> Response:
        """Delete a webhook endpoint.

        With its log of deliveries. It is sent nothing more.
        """
        operations.delete_endpoint(endpoint_id=webhook_endpoint_id)
        return Response(status=204)

    @answers(
        one("webhook_endpoint", shapes.WebhookEndpointWithSecretOutput), request=shapes.WebhookSecretRotation
    )
    def rotate_secret(self, request: Request, webhook_endpoint_id: int) -> Response:
        """Replace the secret of a webhook endpoint.

        Messages are signed with both secrets until `grace_seconds` are over.
        """
        grace_seconds = self.valid(shapes.WebhookSecretRotation)["grace_seconds"]
        endpoint = operations.rotate_secret(
            endpoint_id=webhook_endpoint_id, grace_seconds=grace_seconds, now=timezone.now()
        )
        return Response({"webhook_endpoint": shapes.WebhookEndpointWithSecretOutput.of(endpoint)})

    @answers(one("webhook_ping", shapes.WebhookPingOutput), status=201)
    def ping(self, request: Request, webhook_endpoint_id: int) -> Response:
        """Send a test message to a webhook endpoint.

        It is queued like an event, of the type `webhook_endpoint.ping`. The log of deliveries tells what became of it.
        """
        message_id = operations.ping_endpoint(endpoint_id=webhook_endpoint_id, now=timezone.now())
        return Response({"webhook_ping": {"message_id": message_id}}, status=201)

    @answers(
        many("webhook_deliveries", shapes.WebhookDeliveryOutput),
        parameters=[*PAGE_PARAMETERS, shapes.DeliveryFilters],
    )
    def deliveries(self, request: Request, webhook_endpoint_id: int) -> Response:
        """List deliveries to a webhook endpoint.

        Each attempt, with the endpoint's answer. Newest first.
        """
        filters = self.valid_query(shapes.DeliveryFilters)
        tries = queries.deliveries_to(queries.get_endpoint(webhook_endpoint_id), **filters)
        return Response(
            newest_first(tries, self.cursor).answer("webhook_deliveries", shapes.WebhookDeliveryOutput.of)
        )

    def _require_callable(self, fields: dict[str, Any]) -> None:
        """Raise `ValidationFailed` for a URL that must not be called."""
        if "url" not in fields:
            return
        # In URLs with a handle, every key has an account.
        account_id = self.principal.account_id or 0
        place = waiting_call(Call.LOOKUP, account_id, within_s=LOOKUP_TIMEOUT_S)
        try:
            # Resolving a name may take long: it is done outside of any transaction, in one of the few places for it.
            with place if needs_lookup(fields["url"]) else nullcontext():
                check_url(fields["url"], allow_private=settings.OUTSIDE_ALLOW_PRIVATE)
        except AddressRefused as refused:
            raise ValidationFailed.of("url", refused.code, str(refused)) from refused
