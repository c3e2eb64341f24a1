"""Texts of refusals that know what they are made of, so that the back office can show them in another language.

To everybody else they are English text. This module knows nothing of translations: the arithmetic of discounts, which
imports no framework, uses it too.
"""

from typing import Self


class Wording(str):
    """A sentence with named placeholders, filled in: `Wording("Must be at least %(bound)s.", bound=1)`."""

    __slots__ = ("parameters", "sentence")

    sentence: str
    parameters: dict[str, object]

    def __new__(cls, sentence: str, **parameters: object) -> Self:
        made = super().__new__(cls, sentence % parameters)
        made.sentence, made.parameters = sentence, parameters
        return made


class Cents(int):
    """An amount in cents inside a `Wording`. The back office shows it with its currency."""

    def __str__(self) -> str:
        return f"{int(self)} cents"


class BasisPoints(int):
    """A percentage in basis points inside a `Wording`. The back office shows it as a percentage."""

    def __str__(self) -> str:
        return f"{int(self)}, which is {int(self) // 100} %"


class Choice(str):
    """One of a field's choices, such as `fixed_amount`, inside a `Wording`. The back office shows its label."""

    __slots__ = ()

    @property
    def label(self) -> str:
        return self.replace("_", " ").title()


def mark(text: str) -> str:
    """Return the text as it is. `manage.py messages` collects it, and whoever shows it to staff translates it."""
    return text
