"""Which domains are somebody else's: apps above accounts know who has shown that one is their own."""

from collections.abc import Callable

from accounts.errors import DomainTaken

Question = Callable[[str], bool]

_questions: list[Question] = []


def owns_domains(question: Question) -> Question:
    """Register a question: has another account than the one in scope shown that this domain is its own?"""
    _questions.append(question)
    return question


def require_free_domain(domain: str | None) -> None:
    """Raises `DomainTaken`."""
    if domain is not None and any(question(domain) for question in _questions):
        raise DomainTaken
