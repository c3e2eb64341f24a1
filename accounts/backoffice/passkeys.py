"""The four requests of passkeys: the library's own, with our conditions for adding one."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy
from django.views.i18n import JavaScriptCatalog
from django_otp_webauthn import views
from django_otp_webauthn.exceptions import OTPWebAuthnApiError

from accounts.operations.two_factor import note_enrolled


class NotConfirmed(OTPWebAuthnApiError):
    status_code = 403
    default_code = "password_not_confirmed"
    default_detail = gettext_lazy("Confirm your password first.")


def are_possible() -> bool:
    """Whether browsers allow passkeys here: they need TLS, or an address of the same machine."""
    return bool(settings.OTP_WEBAUTHN_ALLOWED_ORIGINS)


class _WithPassword:
    request: HttpRequest

    def check_can_register(self) -> None:
        from .security import is_confirmed

        user: Any = self.request.user
        if not user.is_staff or not is_confirmed(self.request):
            raise NotConfirmed


class BeginRegistration(_WithPassword, views.BeginCredentialRegistrationView):
    pass


class CompleteRegistration(_WithPassword, views.CompleteCredentialRegistrationView):
    def post(self, *args: Any, **kwargs: Any) -> JsonResponse:
        answer = super().post(*args, **kwargs)
        user: Any = self.request.user
        note_enrolled(user)
        return answer


def list_urls() -> list[URLPattern]:
    """Return the URLs by the names that the library's scripts look for, in the namespace `otp_webauthn`."""
    return [
        path("registration/begin/", BeginRegistration.as_view(), name="credential-registration-begin"),
        path(
            "registration/complete/", CompleteRegistration.as_view(), name="credential-registration-complete"
        ),
        path(
            "authentication/begin/",
            views.BeginCredentialAuthenticationView.as_view(),
            name="credential-authentication-begin",
        ),
        path(
            "authentication/complete/",
            views.CompleteCredentialAuthenticationView.as_view(),
            name="credential-authentication-complete",
        ),
        path("texts/", JavaScriptCatalog.as_view(packages=["django_otp_webauthn"]), name="js-i18n-catalog"),
    ]
