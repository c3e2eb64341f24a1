"""The renderer's refusals, as problem documents (RFC 9457)."""

from dataclasses import asdict, dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """An invalid field of a request."""

    field: str
    code: str
    detail: str


class Problem(Exception):
    """A refused request. `line` counts from 1; for MJML, after Liquid was rendered."""

    status: ClassVar[int] = 422
    code: ClassVar[str]
    title: ClassVar[str]

    def __init__(
        self, detail: str | None = None, *, line: int | None = None, errors: tuple[FieldError, ...] = ()
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.line = line
        self.errors = errors
        self.headers: dict[str, str] = {}

    def build_document(self) -> dict[str, object]:
        document: dict[str, object] = {
            "type": f"urn:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.line is not None:
            document["line"] = self.line
        if self.errors:
            document["errors"] = [asdict(error) for error in self.errors]
        return document


class MalformedRequest(Problem):
    status = 400
    code = "malformed_request"
    title = "The body is not a JSON object"


class NotFound(Problem):
    status = 404
    code = "not_found"
    title = "Not found"


class MethodNotAllowed(Problem):
    status = 405
    code = "method_not_allowed"
    title = "Method not allowed"

    def __init__(self, *, allowed: str) -> None:
        super().__init__(f"This path takes {allowed} only.")
        self.headers["Allow"] = allowed


class BodyTooLarge(Problem):
    status = 413
    code = "body_too_large"
    title = "The body is larger than 256 KiB"


class UnsupportedMediaType(Problem):
    status = 415
    code = "unsupported_media_type"
    title = "The body must be application/json"


class InvalidRequest(Problem):
    code = "invalid_request"
    title = "The request has invalid fields"


class TemplateSyntaxError(Problem):
    code = "template_syntax_error"
    title = "A template can't be rendered"


class TemplateLimitExceeded(Problem):
    code = "template_limit_exceeded"
    title = "Rendering exceeds a limit"


class InvalidMjml(Problem):
    code = "invalid_mjml"
    title = "The body is not valid MJML"


class RendererBusy(Problem):
    status = 503
    code = "renderer_busy"
    title = "The renderer is busy; try again shortly"


class TooSlowForLane(Problem):
    status = 503
    code = "too_slow_for_lane"
    title = "The message takes more than the quick lane allows; use the slow one"


class InternalError(Problem):
    status = 500
    code = "internal_error"
    title = "Internal error"
