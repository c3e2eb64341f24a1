"""Checks whether a domain belongs to another account. Apps above accounts know who has verified a domain."""

from collections.abc import Callable

from accounts.errors import DomainTaken

Question = Callable[[str], bool]

_questions: list[Question] = []


def owns_domains(question: Question) -> Question:
    """Register a check whether an account other than the one in scope has verified this domain."""
    _questions.append(question)
    return question


def require_free_domain(domain: str | None) -> None:
    """Raises `DomainTaken`."""
    if domain is not None and any(question(domain) for question in _questions):
        raise DomainTaken
