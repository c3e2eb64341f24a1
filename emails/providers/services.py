"""Providers with an HTTP API, through Anymail."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import requests
from anymail.exceptions import AnymailError
from django.utils.http import parse_http_date
from django.utils.module_loading import import_string
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import NewConnectionError

from commerce.configuration.registry import fits_header
from commerce.outside.adapters import BoundedAdapter
from commerce.outside.deadline import deadline
from emails.mail_settings import MailSettings
from emails.messages import Message

from .base import MessageRefused, OutcomeUnknown, ProviderBusy, ProviderDown, ProviderUnavailable
from .mime import build_mail

CONNECT_TIMEOUT_S = 5
# For the whole call, whatever it is spent on.
TOTAL_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class Service:
    """A backend of Anymail, and its name for the API key."""

    backend: str
    key_option: str = "api_key"


SERVICES = {
    "resend": Service("emails.providers.resend.EmailBackend"),
    "brevo": Service("anymail.backends.brevo.EmailBackend"),
    "mailersend": Service("anymail.backends.mailersend.EmailBackend", "api_token"),
    "mailgun": Service("anymail.backends.mailgun.EmailBackend"),
    "mailtrap": Service("anymail.backends.mailtrap.EmailBackend", "api_token"),
    "mandrill": Service("anymail.backends.mandrill.EmailBackend"),
    "postmark": Service("anymail.backends.postmark.EmailBackend", "server_token"),
    "sparkpost": Service("anymail.backends.sparkpost.EmailBackend"),
}

# Answers that are not about the message: a wrong key, for example, can be corrected.
_NOT_THE_MESSAGE = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.PAYMENT_REQUIRED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
# RFC 6585, section 4: an answer may say how long to wait. The wait if it doesn't, and the longest, in seconds.
_BUSY_S = 5.0
_MAX_BUSY_S = 3600.0
# Resend's code, with status 409, for a key whose first request is still running.
_CONCURRENT = "concurrent_idempotent_requests"


class _Session(requests.Session):
    """Sends text as it is given, and follows no redirects.

    A plain session merges each part of a request with its own, and then looks for cookies and hooks. That takes half as
    long as sending.
    """

    def __init__(self, headers: Mapping[str, str | bytes]) -> None:
        super().__init__()
        self.headers = CaseInsensitiveDict(headers)
        # The adapter puts every connection under the current deadline: a time-out of requests bounds one read only.
        self._adapter = BoundedAdapter()
        for scheme in ("http://", "https://"):
            self.mount(scheme, self._adapter)

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]  # as Anymail calls it
        is_form = not isinstance(options["data"], str)
        if is_form or options["params"] or options["files"] or options["auth"]:
            return super().request(method, url, allow_redirects=False, **options)
        request = requests.PreparedRequest()
        request.method, request.url, request.body = method, url, options["data"].encode()
        length = str(len(request.body))
        headers = options["headers"] or {}
        request.headers = CaseInsensitiveDict({**self.headers, **headers, "Content-Length": length})
        # Never None: what the environment says, which is True if it says nothing.
        verify = cast("bool | str", self.verify)
        response = self._adapter.send(
            request, timeout=options["timeout"], verify=verify, proxies=self.proxies
        )
        # Read here, where an answer that breaks off raises an error of requests.
        response.content  # noqa: B018
        return response


class ServiceProvider:
    """Reuses one session, so it belongs to one thread."""

    def __init__(self, settings: MailSettings) -> None:
        self.name = settings.provider
        self._api_key = settings.api_key
        service = SERVICES[settings.provider]
        self._backend = import_string(service.backend)(
            **{service.key_option: settings.api_key}, timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S)
        )
        self._backend.session = session = _Session(self._backend.create_session().headers)
        # What the environment says about proxies and certificates, read once: for each request it takes as long as the
        # rest of it.
        environment = session.merge_environment_settings(self._backend.api_url, {}, None, None, None)
        session.proxies, session.verify = environment["proxies"], environment["verify"]
        session.trust_env = False

    def send(self, message: Message, *, idempotency_key: str) -> str:
        if not self._api_key:
            raise ProviderUnavailable(f"{self.name} needs an API key: commerce.email.api_key is empty.")
        # A key that was stored before this was checked.
        if not fits_header(self._api_key):
            raise ProviderUnavailable("commerce.email.api_key has characters that can't be sent.")
        mail: Any = build_mail(message)
        mail.idempotency_key = idempotency_key
        try:
            with deadline(TOTAL_TIMEOUT_S):
                self._backend.send_messages([mail])
        except AnymailError as error:
            raise _translate(error) from error
        return str(mail.anymail_status.message_id or "")


def _translate(error: AnymailError) -> Exception:
    status = error.status_code
    is_from_requests = isinstance(error, requests.RequestException)
    if status is None:
        if not is_from_requests:
            # Anymail's own checks: nothing was sent.
            return MessageRefused(str(error))
        return (ProviderDown if _was_never_sent(error) else OutcomeUnknown)(str(error))
    if 200 <= status < 300:
        # An answer of success that can't be read may mean it. A list of recipients that were all refused doesn't.
        return (OutcomeUnknown if is_from_requests else MessageRefused)(str(error))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return ProviderBusy(str(error), for_s=_read_retry_after(error.response))
    # A redirect isn't about the message either.
    is_for_later = not 400 <= status < 500 or status in _NOT_THE_MESSAGE or _CONCURRENT in str(error)
    return (ProviderUnavailable if is_for_later else MessageRefused)(str(error))


def _read_retry_after(answer: requests.Response) -> float:
    """Read how many seconds to wait. RFC 9110, section 10.2.3: the header has seconds, or the date of their end."""
    text = answer.headers.get("Retry-After", "")
    try:
        seconds = float(text) if text.isdecimal() else parse_http_date(text) - time.time()
    except ValueError:
        seconds = _BUSY_S
    return min(max(seconds, 1.0), _MAX_BUSY_S)


def _was_never_sent(error: Exception) -> bool:
    """Whether no connection was made. requests wraps that error twice."""
    arguments = error.__cause__.args if error.__cause__ else ()
    reason = getattr(arguments[0], "reason", None) if arguments else None
    return isinstance(error, requests.ConnectTimeout) or isinstance(reason, NewConnectionError)
