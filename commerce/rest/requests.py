from django.http import HttpRequest

from commerce.principal import Principal
from commerce.tenancy.scope import ScopeOpener
from commerce.versions import ApiVersion


class ApiRequest(HttpRequest):
    """Names what the middleware adds to a request of the two APIs, for type checking only."""

    request_id: str
    api_version: ApiVersion
    rate_limit_headers: dict[str, str]
    principal: Principal
    # Opens a transaction in the scope that the request's key grants.
    open_scope: ScopeOpener
    # For actions that know their own Idempotency-Keys: the SHA-256 of the body that came with the key.
    body_hash: str
