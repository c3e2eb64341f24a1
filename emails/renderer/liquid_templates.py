"""Liquid, fenced in: no files, no raw HTML from variables, no attribute access, and a bound on every cost."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from liquid import BoundTemplate, Environment, Token
from liquid.builtin.expressions.primitive import RangeLiteral
from liquid.exceptions import LiquidError, LoopIterationLimitError, ResourceLimitError

from emails.renderer import filters, limits
from emails.renderer.problems import FieldError, Problem, TemplateLimitExceeded, TemplateSyntaxError

_FORBIDDEN_TAGS = ("include", "render")
_FORBIDDEN_FILTERS = ("safe", "escapejs")

# A parsed template takes up to 140 times its source, so that a full cache stays below 150 MiB.
_CACHED_TEMPLATES = 64
_MAX_CACHED_CHARACTERS = 16 * 1024


class _FencedEnvironment(Environment):
    loop_iteration_limit = limits.MAX_LOOP_ITERATIONS
    block_nesting_limit = limits.MAX_BLOCK_NESTING
    local_namespace_limit = limits.MAX_LOCAL_NAMESPACE_BYTES
    output_stream_limit = limits.MAX_OUTPUT_BYTES

    def setup_tags_and_filters(self, *, extra: bool = False) -> None:
        super().setup_tags_and_filters(extra=extra)
        for tag in _FORBIDDEN_TAGS:
            del self.tags[tag]
        for name in _FORBIDDEN_FILTERS:
            del self.filters[name]
        self.add_filter("money", filters.money)
        self.add_filter("date", filters.date_)
        self.add_filter("datetime", filters.datetime_)
        self.add_filter("country", filters.country)

    def error(
        self, exc: type[LiquidError] | LiquidError, msg: str | None = None, token: Token | None = None
    ) -> None:
        """The end of an expression has no position of its own, so the tag it belongs to stands in for it."""
        if isinstance(exc, LiquidError) and exc.token and exc.token.start_index < 0:
            exc.token = token
        super().error(exc, msg, token)


_range_of = RangeLiteral._make_range  # noqa: SLF001  see _harden_library


def _bounded_range(self: RangeLiteral, start: Any, stop: Any) -> range:
    found = _range_of(self, start, stop)
    if found.stop - found.start > limits.MAX_LOOP_ITERATIONS:
        raise LoopIterationLimitError("loop iteration limit reached", token=self.token)
    return found


def _harden_library() -> None:
    """Bound ranges wherever they stand: what looks through one in C, as `contains` does, hears no time limit."""
    RangeLiteral._make_range = _bounded_range  # type: ignore[method-assign]  # noqa: SLF001


_harden_library()

_HTML = _FencedEnvironment(autoescape=True)
_TEXT = _FencedEnvironment(autoescape=False)


def render_html(source: str, variables: Mapping[str, Any], *, field: str) -> str:
    """Variables are escaped. `field` is the request's name for the template, for error messages.

    Raises `TemplateSyntaxError`, `TemplateLimitExceeded`.
    """
    return _render(_HTML, source, variables, field)


def render_text(source: str, variables: Mapping[str, Any], *, field: str) -> str:
    """As `render_html`, without escaping."""
    return _render(_TEXT, source, variables, field)


def _render(environment: Environment, source: str, variables: Mapping[str, Any], field: str) -> str:
    try:
        return _parsed(environment, source).render(variables)
    except (MemoryError, RecursionError):
        raise
    except LiquidError as error:
        raise _refusal(error, field) from error
    except Exception as error:
        # Filters let through what Python makes of odd values: overflows, undecodable bytes, malformed numbers.
        detail = f"a filter can't work with its value ({type(error).__name__})"
        raise _problem(TemplateSyntaxError, detail, field) from error


def _parsed(environment: Environment, source: str) -> BoundTemplate:
    if len(source) > _MAX_CACHED_CHARACTERS:
        return environment.from_string(source)
    return _parsed_and_kept(environment, source)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _parsed_and_kept(environment: Environment, source: str) -> BoundTemplate:
    return environment.from_string(source)


def _refusal(error: LiquidError, field: str) -> Exception:
    """What an error of the engine means. It wraps exhaustion of memory or stack too, which is not its own."""
    if isinstance(error.__cause__, MemoryError | RecursionError):
        return error.__cause__
    kind = TemplateLimitExceeded if isinstance(error, ResourceLimitError) else TemplateSyntaxError
    return _problem(kind, str(error.message), field, line=_line_of(error))


def _problem(kind: type[Problem], detail: str, field: str, *, line: int | None = None) -> Problem:
    return kind(f"{field}: {detail}", line=line, errors=(FieldError(field, kind.code, detail),))


def _line_of(error: LiquidError) -> int | None:
    token = error.token
    if token is None or token.start_index < 0:
        return None
    return token.source.count("\n", 0, token.start_index) + 1
