from django.db.models import QuerySet

from commerce.errors import NotFound

from .models import WebhookDelivery, WebhookEndpoint


def endpoints() -> QuerySet[WebhookEndpoint]:
    """The endpoints of the account in scope."""
    return WebhookEndpoint.objects.all()


def get_endpoint(endpoint_id: int) -> WebhookEndpoint:
    """An endpoint of the account in scope; raises `NotFound`."""
    endpoint = endpoints().filter(pk=endpoint_id).first()
    if endpoint is None:
        raise NotFound
    return endpoint


def deliveries_to(endpoint: WebhookEndpoint, *, status: str | None = None) -> QuerySet[WebhookDelivery]:
    """The log of an endpoint's deliveries, as far as it is kept."""
    tries = WebhookDelivery.objects.filter(endpoint_id=endpoint.pk)
    return tries if status is None else tries.filter(status=status)
