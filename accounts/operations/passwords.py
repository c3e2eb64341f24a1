"""Forgotten passwords: a link by email to those who log in with the address.

Whoever asks gets the same answer after the same work: the worker finds out whether the address has a log-in.
"""

from uuid import uuid4

from celery import current_app
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import get_language

from accounts.models import User
from commerce.attempts import Counter, Limit, begin_attempt, digest

SEND_PASSWORD_RESET = "emails.tasks.send_password_reset"  # noqa: S105  a task
# Few people need more than these, and every unwanted message bothers its recipient.
_PER_EMAIL = Limit(3, 3600)
_PER_ADDRESS = Limit(20, 3600)


def count_request(*, email: str, address: str) -> int:
    """Count a request for an email address from a client's address. Returns the seconds to wait if it isn't allowed."""
    return begin_attempt(
        [
            Counter(f"password-reset:email:{digest(email.casefold())}", _PER_EMAIL),
            Counter(f"password-reset:address:{digest(address)}", _PER_ADDRESS),
        ]
    )


def request_reset(*, email: str) -> None:
    """Let the worker send links to those who log in with this address. Raises `OperationalError` without a broker."""
    # Not through the outbox, whose rows belong to shops. A message that is lost with Redis is asked for again.
    current_app.send_task(
        SEND_PASSWORD_RESET,
        kwargs={"email": email, "request_id": uuid4().hex, "language": get_language() or "en"},
        expires=settings.PASSWORD_RESET_TIMEOUT,
        retry=False,
    )


def find_people(email: str) -> list[User]:
    """Return those who may log in to the back office and have this address."""
    return list(User.objects.filter(email__iexact=email, is_active=True, is_staff=True).order_by("pk")[:10])


def make_reset_link(user: User) -> str:
    """Make the link to the page for choosing a new password. It works until it is used or the person logs in."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse(
        "admin:password_reset_confirm",
        kwargs={"uidb64": uid, "token": default_token_generator.make_token(user)},
    )
    return f"{settings.BASE_URL}{path}"
