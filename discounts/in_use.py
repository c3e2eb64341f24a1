"""Whether a discount is entered somewhere: each app that lets shoppers enter codes registers how to ask it."""

from collections.abc import Callable

Question = Callable[[int], bool]

_questions: list[Question] = []


def tells_entered(question: Question) -> Question:
    """Register what says whether a discount, by its id, is entered; apps import the module in their `ready()`."""
    _questions.append(question)
    return question


def is_entered(discount_id: int) -> bool:
    return any(question(discount_id) for question in _questions)
