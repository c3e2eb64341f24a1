from commerce.errors import Refusal


class EndpointExists(Refusal):
    status = 409
    code = "webhook_endpoint_exists"
    title = "The account already has an endpoint with this URL"
    constraints = ("webhook_endpoints_url",)


class TooManyEndpoints(Refusal):
    """Carries `limit`."""

    status = 409
    code = "too_many_webhook_endpoints"
    title = "The account has the maximum number of webhook endpoints"


class DeliveryFailed(Exception):
    """The endpoint didn't accept a message. A later try may succeed."""
