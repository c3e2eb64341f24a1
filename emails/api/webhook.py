"""`POST /webhooks/provider`: events of the email provider, authenticated by their signature.

The account is resolved first, by the message, as the event may be signed with its own secret. An account that the
request names must be the message's. So an answer reveals nothing to a caller that doesn't know a message's id.
"""

import hashlib
import io
import re
from typing import Any, TypeGuard

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from rest_framework.exceptions import APIException

from commerce.configuration.queries import read_setting
from commerce.configuration.registry import installation_value
from commerce.errors import Refusal
from commerce.rest.exceptions import as_refusal
from commerce.rest.problems import allow_methods, refusal_response
from commerce.rest.rendering import JSONObjectParser
from commerce.rest.shapes import Input
from commerce.tenancy.scope import account_scope
from emails.errors import AccountNotResolved, InvalidSignature
from emails.operations import record_event
from emails.queries import find_accounts_of_message
from emails.signatures import is_signed
from emails.tracking import EFFECTS

from .serializers import EnvelopeInput, EventInput

_SECRET = "commerce.email.provider_webhook_secret"  # noqa: S105  the name of the setting
_MAX_TEXT = 255
_ID = re.compile(r"[0-9]{1,18}")


@allow_methods("POST")
def provider_webhook(request: HttpRequest) -> HttpResponse:
    try:
        return JsonResponse(_receive(request))
    # DRF isn't around this view, so its errors and the database's are translated here.
    except (Refusal, APIException, RequestDataTooBig, DatabaseError, InterfaceError) as error:
        refusal = as_refusal(error)
        if refusal is None:
            raise
        return refusal_response(refusal, request)


def _receive(request: HttpRequest) -> dict[str, bool]:
    document = JSONObjectParser().parse(io.BytesIO(request.body))
    event_type = _validate(EnvelopeInput, document)["type"]
    event = _validate(EventInput, document) if event_type in EFFECTS else None
    message_id = document["data"].get("email_id")
    owners = find_accounts_of_message(message_id) if _is_plain(message_id) else []
    named = request.headers.get("X-Account-Id") or request.GET.get("account_id")
    named_id = None
    if named is not None:
        # An invalid id gives 0, which no account has.
        named_id = int(named) if _ID.fullmatch(named.strip()) else 0
    # Without a name, the message must tell the account. Two accounts may have got one id from different providers.
    candidates = [owner for owner in owners if named_id in (None, owner)]
    account_id = candidates[0] if len(candidates) == 1 else None
    if account_id is None:
        # The signature comes first: without it, the answer must not tell which messages exist.
        _require_any_signature(request, owners if named_id is None else [*owners, named_id])
        if event is not None:
            raise AccountNotResolved
        return _build_answer(is_ignored=True)
    with account_scope(account_id):
        _require_signature(request, str(read_setting(_SECRET)))
        # A success, or the provider would repeat an event that nobody handles.
        if event is None:
            return _build_answer(is_ignored=True)
        is_new = record_event(
            message_id=event["data"]["email_id"],
            event_type=event_type,
            event_key=_build_event_key(request, document),
            # Resend puts the event's time beside the data, and the message's time into it.
            occurred_at=event.get("created_at") or event["data"]["created_at"],
            now=timezone.now(),
        )
        return _build_answer(is_duplicate=not is_new)


def _build_answer(*, is_duplicate: bool = False, is_ignored: bool = False) -> dict[str, bool]:
    answer = {"received": True, "duplicate": is_duplicate}
    return answer | {"ignored": True} if is_ignored else answer


def _validate(serializer_class: type[Input], document: dict[str, object]) -> dict[str, Any]:
    serializer = serializer_class(data=document)
    serializer.is_valid(raise_exception=True)
    fields: dict[str, Any] = serializer.validated_data
    return fields


def _require_signature(request: HttpRequest, secret: str) -> None:
    """Without a secret anyone could send events, so the installation must allow that explicitly."""
    is_accepted = _is_signed_with(secret, request) if secret else settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED
    if not is_accepted:
        raise InvalidSignature


def _require_any_signature(request: HttpRequest, account_ids: list[int]) -> None:
    """For an event without an account: the secret of the installation, or of an account in question."""
    for account_id in account_ids:
        with account_scope(account_id):
            secret = str(read_setting(_SECRET))
        if secret and _is_signed_with(secret, request):
            return
    _require_signature(request, str(installation_value(_SECRET)))


def _is_signed_with(secret: str, request: HttpRequest) -> bool:
    return is_signed(request.body, request.headers, secret=secret, now=timezone.now())


def _build_event_key(request: HttpRequest, document: dict[str, Any]) -> str:
    """The provider's id of the event, else a digest of what identifies it."""
    # The same for every attempt to deliver an event.
    for header in ("svix-id", "webhook-id"):
        if _is_plain(key := request.headers.get(header)):
            return key
    data = document["data"]
    parts = [document["type"], data["email_id"], document.get("created_at"), data.get("created_at")]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _is_plain(text: object) -> TypeGuard[str]:
    # What a column takes: PostgreSQL can't store NUL.
    return isinstance(text, str) and text.isprintable() and 0 < len(text) <= _MAX_TEXT
