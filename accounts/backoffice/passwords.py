"""The pages of somebody who has forgotten the password: Django's own views, with our limits and look."""

import logging

from celery.exceptions import CeleryError
from django import forms
from django.contrib import admin
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.http import HttpResponse
from django.urls import URLPattern, path, reverse_lazy
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic.base import ContextMixin, View
from kombu.exceptions import KombuError
from unfold.widgets import UnfoldAdminEmailInputWidget, UnfoldAdminPasswordWidget

from accounts.operations.passwords import count_request, request_reset
from accounts.operations.sessions import end_sessions
from commerce.client_address import client_address

logger = logging.getLogger(__name__)


class ResetForm(PasswordResetForm):
    """Asks for the address. `PasswordResetView` calls `save`."""

    email = forms.EmailField(
        label=gettext_lazy("Email"),
        max_length=254,
        widget=UnfoldAdminEmailInputWidget(attrs={"autocomplete": "email"}),
    )

    def save(self, *args: object, **options: object) -> None:
        request_reset(email=self.cleaned_data["email"])


class NewPasswordForm(SetPasswordForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})


_TEMPLATE = "backoffice/password_reset.html"


class _Page(ContextMixin, View):
    """The pages look like the log-in."""

    lead: str | Promise = ""
    button: str | Promise = ""

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context = super().get_context_data(**kwargs)
        site = admin.site.each_context(self.request)
        return {**site, "lead": self.lead, "button": self.button, **context}


class AskPage(_Page, views.PasswordResetView):
    template_name = _TEMPLATE
    form_class = ResetForm
    title = gettext_lazy("Forgotten your password?")
    lead = gettext_lazy("We email you a link for choosing a new password, to the address of your log-in.")
    button = gettext_lazy("Send the link")
    success_url = reverse_lazy("admin:password_reset_done")

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        address = client_address(self.request)
        wait_s = count_request(email=form.cleaned_data["email"], address=address)
        if wait_s:
            minutes = -(-wait_s // 60)
            form.add_error(
                None, _("Too many requests. Try again in %(minutes)s minutes.") % {"minutes": minutes}
            )
            return self._refuse(form, status=429, wait_s=wait_s)
        try:
            return super().form_valid(form)
        except (CeleryError, KombuError, OSError) as error:
            logger.warning("A password reset can't be sent: Redis does not answer (%s)", type(error).__name__)
            form.add_error(None, _("The message can't be sent at the moment. Try again in a minute."))
            return self._refuse(form, status=503, wait_s=60)

    def _refuse(self, form: PasswordResetForm, *, status: int, wait_s: int) -> HttpResponse:
        response = self.render_to_response(self.get_context_data(form=form), status=status)
        response["Retry-After"] = str(wait_s)
        return response


class SentPage(_Page, views.PasswordResetDoneView):
    template_name = _TEMPLATE
    title = gettext_lazy("Check your mailbox")
    lead = gettext_lazy(
        "If the address has a log-in, a message with a link is on its way. It can take a few minutes. "
        "Otherwise nothing was sent: perhaps your log-in has another address."
    )


class ChoosePage(_Page, views.PasswordResetConfirmView):
    template_name = _TEMPLATE
    form_class = NewPasswordForm
    title = gettext_lazy("Choose a new password")
    lead = gettext_lazy("You are logged out everywhere else.")
    button = gettext_lazy("Save the password")
    success_url = reverse_lazy("admin:password_reset_complete")

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        response = super().form_valid(form)
        if self.user is not None:
            end_sessions(user=self.user)
        return response

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context = super().get_context_data(**kwargs)
        if not self.validlink:
            context |= {
                "title": _("This link has ended"),
                "lead": _("It works once and not for long. Ask for a new one."),
                "again": True,
            }
        return context


class DonePage(_Page, views.PasswordResetCompleteView):
    template_name = _TEMPLATE
    title = gettext_lazy("Your password is changed")
    lead = gettext_lazy("Log in with the new password.")

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        return {**super().get_context_data(**kwargs), "is_done": True}


def list_urls() -> list[URLPattern]:
    # Unfold links to the first one from the log-in page, by this name.
    return [
        path("password-reset/", AskPage.as_view(), name="admin_password_reset"),
        path("password-reset/sent/", SentPage.as_view(), name="password_reset_done"),
        path("password-reset/<uidb64>/<token>/", ChoosePage.as_view(), name="password_reset_confirm"),
        path("password-reset/done/", DonePage.as_view(), name="password_reset_complete"),
    ]
