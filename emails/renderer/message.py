"""Request and response bodies of `POST /render`."""

import re
from dataclasses import dataclass

from emails.renderer.problems import FieldError, InvalidRequest

SOURCE_FORMATS = ("mjml",)
DEFAULT_LOCALE = "en"

_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Templates and the variables they are rendered with. `locale` is a language tag such as `cs-CZ`.

    `is_trusted` says that the body is the platform's own, apart from its variables. `is_compiled_once` says that it is one
    for compiled_templates.py as well.
    """

    body_source: str
    subject_template: str
    ctx: dict[str, object]
    locale: str
    preheader_template: str | None
    body_text_template: str | None
    is_trusted: bool
    is_compiled_once: bool
    wants_warnings: bool


@dataclass(frozen=True, slots=True)
class MjmlWarning:
    """A fault in the MJML that didn't prevent compiling. Lines count from 1, after Liquid was rendered."""

    line: int | None
    tag: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMessage:
    html: str
    text: str
    subject: str
    preheader: str | None
    warnings: list[MjmlWarning]


def parse_message(document: dict[str, object]) -> Message:
    """Unknown keys are ignored. Raises `InvalidRequest`, which names every invalid field."""
    reader = _FieldReader(document)
    reader.check_source_format()
    message = Message(
        body_source=reader.read_text("body_source"),
        subject_template=reader.read_text("subject_template"),
        ctx=reader.read_variables("ctx"),
        locale=reader.read_locale("locale"),
        preheader_template=reader.read_optional_text("preheader_template"),
        body_text_template=reader.read_optional_text("body_text_template"),
        is_trusted=reader.read_flag("is_trusted", default=False),
        is_compiled_once=reader.read_flag("is_compiled_once", default=False),
        wants_warnings=reader.read_flag("wants_warnings", default=True),
    )
    if reader.errors:
        raise InvalidRequest(errors=tuple(reader.errors))
    return message


class _FieldReader:
    """Reads fields and collects all their errors for one answer."""

    def __init__(self, document: dict[str, object]) -> None:
        self._document = document
        self.errors: list[FieldError] = []

    def check_source_format(self) -> None:
        source_format = self.read_text("source_format")
        # What isn't text was refused already.
        if isinstance(self._document.get("source_format"), str) and source_format not in SOURCE_FORMATS:
            self._refuse("source_format", "not_supported", "Must be `mjml`.")

    def read_text(self, name: str) -> str:
        if name not in self._document:
            self._refuse(name, "required", "This field is required.")
            return ""
        value = self._document[name]
        if not isinstance(value, str):
            self._refuse(name, "invalid", "Must be a string.")
            return ""
        return value

    def read_optional_text(self, name: str) -> str | None:
        return None if self._document.get(name) is None else self.read_text(name)

    def read_variables(self, name: str) -> dict[str, object]:
        value = self._document.get(name, {})
        if not isinstance(value, dict):
            self._refuse(name, "invalid", "Must be an object.")
            return {}
        return value

    def read_flag(self, name: str, *, default: bool) -> bool:
        value = self._document.get(name, default)
        if not isinstance(value, bool):
            self._refuse(name, "invalid", "Must be true or false.")
            return default
        return value

    def read_locale(self, name: str) -> str:
        value = self._document.get(name, DEFAULT_LOCALE)
        if not isinstance(value, str) or not _LOCALE.fullmatch(value):
            self._refuse(name, "invalid", "Must be a language tag such as `en` or `cs-CZ`.")
            return DEFAULT_LOCALE
        return value

    def _refuse(self, field: str, code: str, detail: str) -> None:
        self.errors.append(FieldError(field, code, detail))
