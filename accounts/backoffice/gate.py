"""Checks before every page whether the session has passed all steps of the log-in that its person needs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from accounts.models import User
from accounts.sessions import note_use

View = Callable[..., HttpResponse]


def find_missing_step(request: HttpRequest) -> str | None:
    """Return the name of the page that somebody who is logged in has to pass first; None if there is none."""
    user: Any = request.user
    if not isinstance(user, User):
        return None
    if user.has_second_step:
        return None if user.is_verified() else "admin:second_step"  # type: ignore[attr-defined]  # by django-otp
    return "admin:security" if settings.STAFF_TWO_FACTOR == "required" else None


def ask_for_missing_step(view: View, *, except_for: str = "") -> View:
    """Redirect people to the step that they have to pass first. `except_for` names the view's own page."""

    @wraps(view)
    def check_first(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        note_use(request)
        missing = find_missing_step(request)
        if missing is None or missing == except_for:
            return view(request, *args, **kwargs)
        # A POST can't be repeated after the page.
        target = request.get_full_path() if request.method == "GET" else reverse("admin:index")
        return redirect(f"{reverse(missing)}?{urlencode({'next': target})}")

    return check_first
