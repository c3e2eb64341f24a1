"""Sandboxed Liquid: no files, no raw HTML from variables, no attribute access, and a limit on every cost."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from liquid import BoundTemplate, Environment, Token
from liquid.builtin.expressions.primitive import RangeLiteral
from liquid.exceptions import LiquidError, LoopIterationLimitError, ResourceLimitError

from emails.renderer import filters, limits
from emails.renderer.liquid_context import Template
from emails.renderer.problems import FieldError, Problem, TemplateLimitExceeded, TemplateSyntaxError

# Merchants have no files, and a template that included itself would never end.
_FORBIDDEN_TAGS = ("include", "render")
# `safe` writes a variable as markup. `escapejs` marks its result as safe too.
_FORBIDDEN_FILTERS = ("safe", "escapejs")

# A parsed template takes up to 140 times the memory of its source: all that are kept stay below 54 MiB.
_MAX_KEPT_CHARACTERS = 384 * 1024
# Of one template that is kept.
_MAX_CHARACTERS = 16 * 1024


class _SandboxedEnvironment(Environment):
    template_class = Template
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
        """The end of an expression has no position, so use its tag's."""
        if isinstance(exc, LiquidError) and exc.token and exc.token.start_index < 0:
            exc.token = token
        super().error(exc, msg, token)


_make_range = RangeLiteral._make_range  # noqa: SLF001  replaced below


def _make_bounded_range(self: RangeLiteral, start: object, stop: object) -> range:
    found = _make_range(self, start, stop)
    if found.stop - found.start > limits.MAX_LOOP_ITERATIONS:
        raise LoopIterationLimitError("loop iteration limit reached", token=self.token)
    return found


# The time limit can't interrupt C code that iterates over a range, as `contains` does.
RangeLiteral._make_range = _make_bounded_range  # type: ignore[method-assign]  # noqa: SLF001

_HTML = _SandboxedEnvironment(autoescape=True)
_TEXT = _SandboxedEnvironment(autoescape=False)


def render_html(source: str, variables: Mapping[str, object], *, field: str) -> str:
    """Variables are escaped. `field` is the request's name for the template, for error messages.

    Raises `TemplateSyntaxError`, `TemplateLimitExceeded`.
    """
    return _render(_HTML, source, variables, field)


def render_text(source: str, variables: Mapping[str, object], *, field: str) -> str:
    """As `render_html`, without escaping."""
    return _render(_TEXT, source, variables, field)


def parse_html(source: str) -> BoundTemplate:
    """Parse a template that `render_html` takes. Raises `LiquidError`."""
    return _HTML.from_string(source)


def render_parsed(template: BoundTemplate, variables: Mapping[str, object], *, field: str) -> str:
    """As `render_html`, with what `parse_html` returned."""
    with _translating(field):
        return template.render(variables)


def _render(environment: Environment, source: str, variables: Mapping[str, object], field: str) -> str:
    with _translating(field):
        return _parsed.get(environment, source).render(variables)


@contextmanager
def _translating(field: str) -> Iterator[None]:
    """Turn the errors of Liquid and of filters into problems."""
    try:
        yield
    except (MemoryError, RecursionError):
        # Passed on to `limit_resources`, which reports them as a limit.
        raise
    except LiquidError as error:
        raise _translate(error, field) from error
    except Exception as error:
        # Filters don't catch Python's errors for odd values: overflows, undecodable bytes, malformed numbers.
        detail = f"a filter can't handle its value ({type(error).__name__})"
        raise _build_problem(TemplateSyntaxError, detail, field) from error


class _ParsedTemplates:
    """The templates used last, up to a number of characters."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Environment, str], BoundTemplate] = OrderedDict()

    def get(self, environment: Environment, source: str) -> BoundTemplate:
        # Taken out and put in again, so that the order is that of the last use.
        key = environment, source
        template = self._kept.pop(key, None) or environment.from_string(source)
        if len(source) <= _MAX_CHARACTERS:
            self._kept[key] = template
            while self.characters > _MAX_KEPT_CHARACTERS:
                self._kept.popitem(last=False)
        return template

    @property
    def characters(self) -> int:
        return sum(len(source) for _, source in self._kept)


_parsed = _ParsedTemplates()


def _translate(error: LiquidError, field: str) -> Exception:
    """The engine also wraps errors of memory or stack, which are passed on."""
    if isinstance(error.__cause__, MemoryError | RecursionError):
        return error.__cause__
    kind = TemplateLimitExceeded if isinstance(error, ResourceLimitError) else TemplateSyntaxError
    token = error.token
    # The end of a template has no position.
    has_line = token is not None and token.start_index >= 0
    line = token.source.count("\n", 0, token.start_index) + 1 if token and has_line else None
    return _build_problem(kind, str(error.message), field, line=line)


def _build_problem(kind: type[Problem], detail: str, field: str, *, line: int | None = None) -> Problem:
    return kind(f"{field}: {detail}", line=line, errors=(FieldError(field, kind.code, detail),))
