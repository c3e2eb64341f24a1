from django.db.models import QuerySet

from commerce.queries import get_or_not_found

from .models import WebhookDelivery, WebhookEndpoint


def endpoints() -> QuerySet[WebhookEndpoint]:
    """The endpoints of the account in scope."""
    return WebhookEndpoint.objects.all()


def get_endpoint(endpoint_id: int) -> WebhookEndpoint:
    """An endpoint of the account in scope; raises `NotFound`."""
    return get_or_not_found(endpoints(), pk=endpoint_id)


def deliveries_to(endpoint: WebhookEndpoint, *, status: str | None = None) -> QuerySet[WebhookDelivery]:
    """The log of an endpoint's deliveries, as far as it is kept."""
    tries = WebhookDelivery.objects.filter(endpoint_id=endpoint.pk)
    return tries if status is None else tries.filter(status=status)
