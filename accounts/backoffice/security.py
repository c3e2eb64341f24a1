"""A person's own page: the second step of the log-in, whose changes need the password again, and the sessions."""

import time
from base64 import b32encode
from dataclasses import dataclass
from typing import cast

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.hashers import check_password
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp import login as keep_verified
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.models import User
from accounts.operations import sessions, two_factor
from commerce.attempts import begin_attempt, undo_attempt
from commerce.backoffice.locales import use_language
from commerce.client_address import client_address
from commerce.formats import parse_id

from .gate import find_missing_step
from .login import list_counters
from .passkeys import are_possible

# For how long the password counts as given again.
_CONFIRMED_FOR_S = 600
_SESSION_KEY = "password_confirmed_at"


class PasswordForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
    )


class AppForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name of the device"), max_length=64, widget=UnfoldAdminTextInputWidget
    )


class AppCodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code that the app shows"),
        max_length=10,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class LanguageForm(forms.Form):
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        # Each language by its own name, so that everybody finds theirs.
        choices=[("", gettext_lazy("The browser's")), *settings.LANGUAGES],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )


@dataclass(slots=True)
class _Answer:
    """What an action leads to: a form with errors, codes to show once, or, without either, a reload of the page."""

    form: forms.Form | None = None
    codes: list[str] | None = None
    wait_s: int = 0


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the password was given again lately."""
    return time.time() - request.session.get(_SESSION_KEY, 0) < _CONFIRMED_FOR_S


def manage_security(request: HttpRequest) -> HttpResponse:
    """Show the second steps of the person who is logged in, or change them."""
    user = cast("User", request.user)
    answer = _Answer()
    if request.method == "POST":
        answer = _act(request, user)
        if answer.form is None and answer.codes is None:
            return redirect(_choose_target(request))
    response = TemplateResponse(
        request,
        "backoffice/security.html",
        _build_context(request, user, answer),
        status=429 if answer.wait_s else 200,
    )
    if answer.wait_s:
        response["Retry-After"] = str(answer.wait_s)
    return response


def _act(request: HttpRequest, user: User) -> _Answer:
    action = request.POST.get("action", "")
    if action == "confirm":
        return _confirm_password(request, user)
    if action in {"end_session", "end_other_sessions"}:
        return _end_sessions(request, user)
    if action == "language":
        return _choose_language(request, user)
    # What would lock somebody out, or let somebody in, needs more than an open session.
    if not is_confirmed(request):
        messages.error(request, _("Confirm your password first."))
        return _Answer()
    return _change_devices(request, user, action)


def _change_devices(request: HttpRequest, user: User, action: str) -> _Answer:
    if action == "begin_app":
        form = AppForm(request.POST)
        if not form.is_valid():
            return _Answer(form=form)
        two_factor.begin_app(user=user, name=form.cleaned_data["name"])
    elif action == "confirm_app":
        return _confirm_app(request, user)
    elif action == "new_codes" and user.has_second_step:
        return _Answer(codes=two_factor.make_recovery_codes(user=user))
    elif action in {"remove_app", "remove_passkey"}:
        device_id = parse_id(request.POST.get("device", ""))
        kind = action.removeprefix("remove_")
        if device_id is not None and two_factor.remove_device(user=user, kind=kind, device_id=device_id):
            messages.success(request, _("The device is removed."))
    return _Answer()


def _choose_language(request: HttpRequest, user: User) -> _Answer:
    """Keep the language for all of the person's browsers; the empty one stands for that of the browser."""
    form = LanguageForm(request.POST)
    if not form.is_valid():
        return _Answer(form=form)
    user.language = form.cleaned_data["language"]
    user.save(update_fields=["language"])
    with use_language(request, user.language):
        messages.success(request, _("The language is saved."))
    return _Answer()


def _end_sessions(request: HttpRequest, user: User) -> _Answer:
    """End a session, or all others. This needs no password: it takes rights away and gives none."""
    number = parse_id(request.POST.get("session", ""))
    if number is not None:
        ended = int(sessions.end_session(user=user, number=number))
    else:
        ended = sessions.end_sessions(user=user, but=request.session.session_key)
    if ended:
        messages.success(request, _("You are logged out there."))
    return _Answer()


def _confirm_password(request: HttpRequest, user: User) -> _Answer:
    form = PasswordForm(request.POST)
    if not form.is_valid():
        return _Answer(form=form)
    # The limits of the log-in, so that this page is no way to guess more.
    counters = list_counters(user.get_username(), client_address(request))
    wait_s = begin_attempt(counters)
    if wait_s:
        minutes = -(-wait_s // 60)
        form.add_error(
            None, _("Too many wrong passwords. Try again in %(minutes)s minutes.") % {"minutes": minutes}
        )
        return _Answer(form=form, wait_s=wait_s)
    if not check_password(form.cleaned_data["password"], user.password):
        form.add_error("password", _("This isn't your password."))
        return _Answer(form=form)
    undo_attempt(counters)
    request.session[_SESSION_KEY] = time.time()
    return _Answer()


def _confirm_app(request: HttpRequest, user: User) -> _Answer:
    form = AppCodeForm(request.POST)
    if not form.is_valid():
        return _Answer(form=form)
    had_step = user.has_second_step
    device = two_factor.confirm_app(user=user, code="".join(form.cleaned_data["code"].split()))
    if device is None:
        form.add_error("code", _("This code is wrong or has expired. Wait for the next one."))
        return _Answer(form=form)
    # The code was given in this session.
    keep_verified(request, device)
    messages.success(request, _("The app is set up."))
    if had_step and two_factor.count_recovery_codes(user):
        return _Answer()
    return _Answer(codes=two_factor.make_recovery_codes(user=user))


def _build_context(request: HttpRequest, user: User, answer: _Answer) -> dict[str, object]:
    begun = two_factor.find_unconfirmed_app(user)
    form = answer.form
    return {
        **admin.site.each_context(request),
        "title": _("Your log-in"),
        "is_required": find_missing_step(request) == "admin:security",
        "is_confirmed": is_confirmed(request),
        "password_form": form if isinstance(form, PasswordForm) else PasswordForm(),
        "app_form": form if isinstance(form, AppForm) else AppForm(),
        "code_form": form if isinstance(form, AppCodeForm) else AppCodeForm(),
        "language_form": form
        if isinstance(form, LanguageForm)
        else LanguageForm(initial={"language": user.language}),
        "begun": begun,
        "qr_code": segno.make(begun.config_url).svg_data_uri(scale=5, border=2) if begun else "",
        "secret": _write_in_groups(begun.bin_key) if begun else "",
        "apps": two_factor.list_apps(user),
        "passkeys": two_factor.list_passkeys(user),
        "passkeys_are_possible": are_possible(),
        "recovery_codes": two_factor.count_recovery_codes(user),
        "codes": answer.codes,
        "sessions": sessions.list_sessions(user=user, now=timezone.now()),
        "own_session": request.session.session_key,
        "next": request.GET.get("next", ""),
    }


def _write_in_groups(key: bytes) -> str:
    """Write a secret as people type it into an app that can't read the picture: base 32 in groups of four."""
    text = b32encode(key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def _choose_target(request: HttpRequest) -> str:
    """Return the page to go on to: this one again, with what it was opened for."""
    here, target = reverse("admin:security"), request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return f"{here}?{request.GET.urlencode()}" if is_own else here
