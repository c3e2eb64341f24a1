"""The page between the password and the back office: a code of an app, a passkey, or a recovery code."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp import login as keep_verified
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.models import User
from accounts.operations.two_factor import check_code, list_passkeys
from commerce.attempts import Counter, Limit, begin_attempt, digest, undo_attempt
from commerce.client_address import client_address

PER_PERSON = Limit(5, 15 * 60)
PER_ADDRESS = Limit(50, 15 * 60)


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=32,
        help_text=gettext_lazy("Six digits from your app, or a recovery code."),
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "inputmode": "text"}
        ),
    )


def ask_second_step(request: HttpRequest) -> HttpResponse:
    """Ask for the second step. Only reached by those who have given the password."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101  the site has checked it
    target = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = reverse("admin:index")
    if user.is_verified() or not user.has_second_step:  # type: ignore[attr-defined]  # by django-otp
        return redirect(target)
    form, status, wait_s = CodeForm(request.POST or None), 200, 0
    if form.is_valid():
        wait_s = _try_code(request, user, form)
        if not form.errors:
            return redirect(target)
        status = 429 if wait_s else 200
    context = {
        **admin.site.each_context(request),
        "title": _("Confirm that it's you"),
        "form": form,
        "next": target,
        "has_passkeys": bool(list_passkeys(user)),
    }
    response = TemplateResponse(request, "backoffice/second_step.html", context, status=status)
    if wait_s:
        response["Retry-After"] = str(wait_s)
    return response


def _try_code(request: HttpRequest, user: User, form: CodeForm) -> int:
    """Verify the session if the code is right, or else add an error. Returns the seconds to wait if there were too many."""
    counters = [
        Counter(f"second-step:{user.pk}", PER_PERSON, is_cleared_by_success=True),
        Counter(f"second-step:address:{digest(client_address(request))}", PER_ADDRESS),
    ]
    # Counted before the code is checked: otherwise many attempts sent at once would all pass the limit.
    wait_s = begin_attempt(counters)
    if wait_s:
        minutes = -(-wait_s // 60)
        form.add_error(
            None, _("Too many wrong codes. Try again in %(minutes)s minutes.") % {"minutes": minutes}
        )
        return wait_s
    device = check_code(user=user, typed=form.cleaned_data["code"])
    if device is None:
        form.add_error("code", _("This code is wrong, has been used or has expired. Wait for the next one."))
        return 0
    undo_attempt(counters)
    # The session gets a new key, so that a key stolen before the second step is useless.
    request.session.cycle_key()
    keep_verified(request, device)
    return 0
