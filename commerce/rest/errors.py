from commerce.errors import Refusal


class IdempotencyKeyRequired(Refusal):
    status = 400
    code = "idempotency_key_required"
    title = "This request needs an Idempotency-Key header"


class IdempotencyKeyInvalid(Refusal):
    status = 400
    code = "idempotency_key_invalid"
    title = "An Idempotency-Key has 1 to 255 printable ASCII characters"


class IdempotencyKeyReused(Refusal):
    status = 422
    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another request"
    constraints = ("checkouts_completion_key",)


class MethodNotAllowed(Refusal):
    status = 405
    code = "method_not_allowed"
    title = "Method Not Allowed"


class NotAcceptable(Refusal):
    status = 406
    code = "not_acceptable"
    title = "Not Acceptable"


class UnsupportedMediaType(Refusal):
    status = 415
    code = "unsupported_media_type"
    title = "Unsupported Media Type"


class UnsupportedApiVersion(Refusal):
    status = 404
    code = "unsupported_api_version"
    title = "This API version does not exist"


class ReadOnlyField(Refusal):
    status = 422
    code = "read_only_field"
    title = "The request sets a field that is computed"


class UnknownField(Refusal):
    """Its errors name each field."""

    status = 422
    code = "unknown_field"
    title = "The request has unknown fields"


class BodyTooSlow(Refusal):
    status = 408
    code = "body_too_slow"
    title = "The body did not arrive in time"


class ServerBusy(Refusal):
    status = 503
    code = "server_busy"
    title = "Too many requests are waiting; try again shortly"


class Forbidden(Refusal):
    status = 403
    code = "forbidden"
    title = "This is not allowed"
