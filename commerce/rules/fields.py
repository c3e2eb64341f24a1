"""Rules for values, the same whichever interface a value comes through: REST, the back office, a command, an import.

A rule takes a value and returns it as it is stored, or raises `ValidationFailed`. `Fields` holds the rules of a row or
of a JSON object. Operations check with them; REST fields and forms use the same ones to name every error at once.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from commerce.errors import FieldError, ValidationFailed
from commerce.wording import Wording

Rule = Callable[[Any], Any]


def refuse(code: str, detail: str) -> NoReturn:
    """Refuse the value that a rule was given."""
    raise ValidationFailed.of("", code, detail)


class Fields:
    """The rules of named fields.

    Called like a rule, it checks a JSON object: it drops unknown names and fills in `defaults`.
    """

    def __init__(
        self,
        *,
        required: Mapping[str, Rule] | None = None,
        optional: Mapping[str, Rule] | None = None,
        defaults: Mapping[str, Callable[[], object]] | None = None,
        then: Rule | None = None,
    ) -> None:
        self.required = frozenset(required or {})
        self.rules = {**(required or {}), **(optional or {})}
        self.defaults = defaults or {}
        # Checks the object as a whole once each field is right.
        self.then = then

    def check(self, values: Mapping[str, object], *, partial: bool = False) -> dict[str, Any]:
        """The values as they are stored. Without `partial`, all of `required` must be given.

        Raises `ValidationFailed` with the errors of all fields, and `TypeError` for a name without a rule, which is a
        bug of the caller.
        """
        unknown = values.keys() - self.rules.keys()
        if unknown:
            raise TypeError(f"There are no rules for {', '.join(sorted(unknown))}.")
        kept: dict[str, Any] = {}
        errors: list[FieldError] = []
        # In the order of the rules, so that errors don't depend on the order in which a client sends its fields.
        for name, rule in self.rules.items():
            if name in values:
                try:
                    kept[name] = rule(values[name])
                except ValidationFailed as refusal:
                    errors += errors_below(name, refusal)
            elif name in self.required and not partial:
                errors.append(FieldError(name, "required", "This field is required."))
        if errors:
            raise ValidationFailed.of_errors(errors)
        return kept

    def __call__(self, value: object) -> dict[str, object]:
        require_given(value)
        if not isinstance(value, dict):
            refuse(
                "invalid",
                Wording("Invalid data. Expected a dictionary, but got %(type)s.", type=type(value).__name__),
            )
        defaults = {name: default() for name, default in self.defaults.items()}
        kept = self.check(defaults | {name: value[name] for name in self.rules if name in value})
        return self.then(kept) if self.then else kept


def errors_below(name: str, refusal: ValidationFailed) -> list[FieldError]:
    """The errors of a value, with the name of the field that holds it in front of their paths."""
    return [
        FieldError(f"{name}.{error.field}" if error.field else name, error.code, error.detail)
        for error in refusal.errors
    ]


def nullable(rule: Rule) -> Rule:
    """The same rule, but null is allowed too."""
    return lambda value: None if value is None else rule(value)


def items(rule: Rule, *, max_length: int, may_be_empty: bool = True) -> Rule:
    """A list; a longer one is refused before its items are checked."""

    def check(value: object) -> list[Any]:
        require_given(value)
        if not isinstance(value, list):
            refuse(
                "not_a_list",
                Wording('Expected a list of items but got type "%(type)s".', type=type(value).__name__),
            )
        if len(value) > max_length:
            refuse("max_length", Wording("At most %(count)s items are allowed.", count=max_length))
        if not value and not may_be_empty:
            refuse("empty", "This list may not be empty.")
        kept, errors = [], []
        for index, item in enumerate(value):
            try:
                kept.append(rule(item))
            except ValidationFailed as refusal:
                errors += errors_below(str(index), refusal)
        if errors:
            raise ValidationFailed.of_errors(errors)
        return kept

    return check


def each_once(rule: Rule) -> Rule:
    """A list whose repeated items are kept once, in the order given."""
    return lambda value: list(dict.fromkeys(rule(value)))


def require_given(value: object) -> None:
    if value is None:
        refuse("null", "This field may not be null.")
