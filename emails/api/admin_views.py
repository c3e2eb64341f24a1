from functools import partial

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.customers.errors import CustomerRedacted
from commerce.errors import InsufficientScope, RequestInProgress, TooManyOutsideCalls
from commerce.mail import find_scope_to_read
from commerce.paging import newest_first
from commerce.principal import Principal
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from emails import errors, queries, sending
from emails.models import EmailDelivery

from . import serializers as shapes


class DeliveriesViewSet(AdminViewSet):
    """Emails that a provider has accepted, and what became of them."""

    area = "emails"

    @answers(
        many("email_deliveries", shapes.DeliveryOutput), parameters=[*PAGE_PARAMETERS, shapes.DeliveryFilters]
    )
    def list(self, request: Request) -> Response:
        """List emails.

        Without their contents. Newest first.
        """
        deliveries = queries.deliveries(**self.valid_query(shapes.DeliveryFilters))
        page = newest_first(deliveries, self.cursor)
        return Response(page.answer("email_deliveries", partial(_shape_delivery, principal=self.principal)))

    @answers(
        one("email_delivery", shapes.DeliveryBodyOutput),
        parameters=[shapes.BodyOption],
        refuses=(InsufficientScope,),
    )
    def retrieve(self, request: Request, delivery_id: int) -> Response:
        """Show an email.

        With `include_body=true`, its contents too. For an email with a gift card's code, this needs the scope
        `read_vouchers`.
        """
        include_body = self.valid_query(shapes.BodyOption)["include_body"]
        delivery = queries.get_delivery(delivery_id, include_body=include_body)
        if not include_body:
            return Response({"email_delivery": _shape_delivery(delivery, principal=self.principal)})
        scope = _find_missing_scope(delivery, self.principal)
        if scope is not None:
            raise InsufficientScope.of(scope)
        return Response({"email_delivery": shapes.DeliveryBodyOutput.of(delivery)})


class SendViewSet(AdminViewSet):
    area = "emails"
    unscoped_actions = ("send",)

    @answers(
        one("email_delivery", shapes.DeliveryOutput),
        request=shapes.SendInput,
        status=201,
        also={200: "The delivery that this idempotency_key made before."},
        refuses=(
            errors.TemplateNotFound,
            CustomerRedacted,
            errors.NotificationDisabled,
            errors.EmailKeyGivenUp,
            RequestInProgress,
            errors.RendererFailed,
            errors.ProviderFailed,
            errors.EmailProviderResting,
            errors.EmailUnderWay,
            errors.TemplatesResting,
            TooManyOutsideCalls,
        ),
    )
    def send(self, request: Request) -> Response:
        """Send an email to a customer.

        Renders the template in the customer's language, and hands the message to the email provider before answering.
        Not sent to a customer who has switched this email off, unless `skip_notification_check` is true. A repeated
        `idempotency_key` sends nothing and shows the same delivery. If the renderer or the provider fails, nothing is
        stored, and the request can be sent again.
        """
        fields = self.valid(shapes.SendInput)
        key = fields.pop("idempotency_key")
        # In a scope of its own, which is closed before the outside calls. A key that was used is answered without any.
        with self.scope():
            sent = sending.find_sent_delivery(key)
        if sent is not None:
            return Response({"email_delivery": _shape_delivery(sent, principal=self.principal)})
        delivery = sending.send_now(
            scope=self.scope,
            idempotency_key=key,
            fields={
                "template_key": fields["template_key"],
                "customer_id": fields["customer_id"],
                "ctx": fields.get("ctx", {}),
                "locale": fields.get("locale"),
                "reference_type": fields.get("reference_type"),
                "reference_id": fields.get("reference_id"),
                "skip_notification_check": fields["skip_notification_check"],
            },
            now=timezone.now(),
        )
        return Response({"email_delivery": _shape_delivery(delivery, principal=self.principal)}, status=201)


def _shape_delivery(delivery: EmailDelivery, *, principal: Principal) -> dict[str, object]:
    shown = shapes.DeliveryOutput.of(delivery)
    # A template may put any of its variables into the subject, in any form.
    return shown if _find_missing_scope(delivery, principal) is None else shown | {"subject": ""}


def _find_missing_scope(delivery: EmailDelivery, principal: Principal) -> str | None:
    """Return the scope that the key lacks to read what the email says."""
    scope = find_scope_to_read(delivery.template_key)
    return None if scope is None or principal.may(scope) else scope
