"""Sessions, log-in and messages for the back office only, so that they don't slow down the two APIs."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin
from django_otp.middleware import OTPMiddleware

from commerce.backoffice.locales import use_language
from commerce.tenancy.statements import planning_anew

PREFIX = "/backoffice/"

# 'unsafe-eval', because Unfold uses Alpine, which evaluates expressions. Nothing may be loaded from other origins.
_CONTENT_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)


class _BackOfficeOnly(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if request.path_info.startswith(PREFIX):
            return super().__call__(request)
        return self.get_response(request)


class Sessions(_BackOfficeOnly, SessionMiddleware):
    pass


class Authentication(_BackOfficeOnly, AuthenticationMiddleware):
    pass


class Language:
    """Shows the pages in the language that the person has chosen, or else in the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        with use_language(request, getattr(request.user, "language", "")):
            return self.get_response(request)


class Planning:
    """Has the statements of pages planned anew: filters differ, and shops have few rows or a million of a kind."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with planning_anew() if request.path_info.startswith(PREFIX) else nullcontext():
            return self.get_response(request)


class SecondStep(OTPMiddleware):
    """Knows the device by which a session was verified."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(PREFIX):
            return super().__call__(request)
        return self.get_response(request)


class Messages(_BackOfficeOnly, MessageMiddleware):
    pass


class Csrf(_BackOfficeOnly, CsrfViewMiddleware):
    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[object, ...],
        callback_kwargs: dict[str, object],
    ) -> HttpResponseForbidden | None:
        # __call__ alone isn't enough: Django calls process_view for every request, whichever middleware passed it on.
        if not request.path_info.startswith(PREFIX):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class ContentPolicy:
    """Sends a Content-Security-Policy that keeps the browser from loading anything from other origins."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(PREFIX):
            response["Content-Security-Policy"] = _CONTENT_POLICY
        return response
