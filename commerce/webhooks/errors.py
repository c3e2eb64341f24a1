from commerce.errors import Refusal


class EndpointExists(Refusal):
    status = 409
    code = "webhook_endpoint_exists"
    title = "The account has an endpoint of this URL already"
    constraints = ("webhook_endpoints_url",)


class TooManyEndpoints(Refusal):
    """Carries `limit`."""

    status = 409
    code = "too_many_webhook_endpoints"
    title = "The account has as many webhook endpoints as it may have"


class DeliveryFailed(Exception):
    """The endpoint didn't accept a message. A later try may succeed."""
