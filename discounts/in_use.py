"""Whether a discount's code is entered somewhere. Apps that let shoppers enter codes register a check."""

from collections.abc import Callable

Question = Callable[[int], bool]

_questions: list[Question] = []


def tells_entered(question: Question) -> Question:
    """Register a check whether a discount id is entered; apps import the registering module in `ready()`."""
    _questions.append(question)
    return question


def is_entered(discount_id: int) -> bool:
    return any(question(discount_id) for question in _questions)
