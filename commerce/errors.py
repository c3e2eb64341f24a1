"""Refusals: the errors that clients get. Each has a stable code, an HTTP status and named data."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from commerce.wording import Wording


@dataclass(frozen=True)
class FieldError:
    """An invalid field of a request; `field` is a dotted path such as `variants.0.sku`."""

    field: str
    code: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        return {"field": self.field, "code": self.code, "detail": self.detail}


class Refusal(Exception):
    """Refuses a request as a whole: nothing of it is stored.

    Subclasses set `status`, `code` and `title`. `constraints` lists the database constraints whose violation means the
    same, so that a lost race gets the same answer as the check before it. `own_headers` are those of every answer.

    What must be stored nevertheless, such as a failed attempt, is written by `aftermath`, in a separate transaction
    after the request's was rolled back.
    """

    status: ClassVar[int] = 422
    code: ClassVar[str]
    title: ClassVar[str]
    constraints: ClassVar[tuple[str, ...]] = ()
    own_headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, detail: str | None = None, *, errors: tuple[FieldError, ...] = (), **extras: object
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.errors = errors
        self.extras = extras
        self.headers = dict(self.own_headers)
        self.aftermath: Callable[[], object] | None = None


class NotFound(Refusal):
    status = 404
    code = "not_found"
    title = "Not found"


class ValidationFailed(Refusal):
    status = 422
    code = "validation_failed"
    title = "The request has fields that can't be accepted"

    @classmethod
    def of(cls, field: str, code: str, detail: str) -> "ValidationFailed":
        return cls(errors=(FieldError(field, code, detail),))

    @classmethod
    def of_errors(cls, errors: Iterable[FieldError]) -> "ValidationFailed":
        """A refusal for these errors: `TooLarge` if all of them are about size."""
        # Without errors, `all()` would be true as well.
        found = tuple(errors)
        is_size_alone = bool(found) and all(error.code == TooLarge.code for error in found)
        return TooLarge(errors=found) if is_size_alone else ValidationFailed(errors=found)

    @classmethod
    def unknown(cls, *fields: str) -> "ValidationFailed":
        """For ids in the body that don't exist in this account."""
        return cls(
            errors=tuple(FieldError(field, "not_found", "Not found in this account.") for field in fields)
        )


class TooLarge(ValidationFailed):
    """Its errors name the field."""

    status = 422
    code = "too_large"
    title = "A value in the request is too large to store"


class MalformedRequest(Refusal):
    status = 400
    code = "malformed_request"
    title = "The request can't be understood"


class BodyTooLarge(Refusal):
    status = 413
    code = "body_too_large"
    title = "The body is larger than 1 MiB"


class Unauthenticated(Refusal):
    status = 401
    code = "unauthenticated"
    title = "A valid key is required"
    # RFC 9110, 15.5.2: a 401 has to say how to authenticate.
    own_headers = {"WWW-Authenticate": "Bearer"}


class AccountSuspended(Refusal):
    status = 403
    code = "account_suspended"
    title = "The account is suspended"


class InsufficientScope(Refusal):
    status = 403
    code = "insufficient_scope"
    title = "The key may not do this"

    @classmethod
    def of(cls, scope: str) -> "InsufficientScope":
        return cls(Wording("The key lacks the scope %(scope)s.", scope=scope), required_scope=scope)


class TooManyOutsideCalls(Refusal):
    status = 503
    code = "too_many_outside_calls"
    title = "Too many requests are waiting for outside services; try again shortly"
    own_headers = {"Retry-After": "2"}


class RequestInProgress(Refusal):
    status = 409
    code = "request_in_progress"
    title = "A request with this Idempotency-Key is still running"
    constraints = ("idempotency_records_key", "workspace_idempotency_records_key")


class DatabaseUnreachable(Refusal):
    status = 503
    code = "database_unreachable"
    title = "The database can't be reached; try again shortly"
    own_headers = {"Retry-After": "1"}


class Busy(Refusal):
    status = 503
    code = "busy"
    title = "Another request holds what this one needs; try again shortly"
    own_headers = {"Retry-After": "1"}


class RateLimited(Refusal):
    status = 429
    code = "rate_limited"
    title = "Too many requests"

    def __init__(self, wait_s: int) -> None:
        super().__init__()
        self.headers["Retry-After"] = str(wait_s)


def all_refusals(base: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    """Every loaded refusal class, for the constraint map and the document of error codes."""
    for cls in base.__subclasses__():
        yield cls
        yield from all_refusals(cls)


def constraint_of(error: Exception) -> str:
    """The name of the database constraint that a statement has violated; "" if it wasn't one."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) or ""
