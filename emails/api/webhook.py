"""`POST /webhooks/provider`: what the email provider tells of messages. It has no key; its signature speaks for it.

The account is resolved first, by the message, since its own secret may be the one that was signed with. A stated
account must be the message's. So an answer tells nothing of what exists to whoever knows no id of a message.
"""

import hashlib
import io
import re
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from rest_framework.exceptions import APIException

from commerce.configuration.queries import effective
from commerce.configuration.registry import installation_value
from commerce.errors import Refusal
from commerce.rest.problems import as_refusal, refusal_response, takes_only
from commerce.rest.rendering import JSONObjectParser
from commerce.tenancy.scope import account_scope
from emails.errors import AccountNotResolved, InvalidSignature
from emails.operations import record_event
from emails.queries import accounts_of_message
from emails.signatures import is_signed
from emails.tracking import EFFECTS

from .serializers import EnvelopeInput, EventInput

_SECRET = "commerce.email.provider_webhook_secret"  # noqa: S105  the name of the setting
_MAX_TEXT = 255
_ID = re.compile(r"[0-9]{1,18}")


@takes_only("POST")
def provider_webhook(request: HttpRequest) -> HttpResponse:
    try:
        return JsonResponse(_receive(request))
    except (Refusal, APIException, RequestDataTooBig, DatabaseError, InterfaceError) as error:
        refusal = as_refusal(error)
        if refusal is None:
            raise
        return refusal_response(refusal, request)


def _receive(request: HttpRequest) -> dict[str, bool]:
    document = JSONObjectParser().parse(io.BytesIO(request.body))
    event_type = _valid(EnvelopeInput, document)["type"]
    event = _valid(EventInput, document) if event_type in EFFECTS else None
    owners, stated = _owners(document["data"].get("email_id")), _stated_account(request)
    account_id = _resolved(owners, stated)
    if account_id is None:
        _require_any_signature(request, owners if stated is None else [*owners, stated])
        if event is not None:
            raise AccountNotResolved
        return _answer(is_ignored=True)
    with account_scope(account_id):
        _require_signature(request, str(effective(_SECRET)))
        if event is None:
            return _answer(is_ignored=True)
        is_new = record_event(
            message_id=event["data"]["email_id"],
            event_type=event_type,
            event_key=_event_key(request, document),
            # Resend's own time of the event stands beside the data, in which there is that of the message.
            occurred_at=event.get("created_at") or event["data"]["created_at"],
            now=timezone.now(),
        )
        return _answer(is_duplicate=not is_new)


def _answer(*, is_duplicate: bool = False, is_ignored: bool = False) -> dict[str, bool]:
    answer = {"received": True, "duplicate": is_duplicate}
    return answer | {"ignored": True} if is_ignored else answer


def _valid(serializer_class: Any, document: dict[str, Any]) -> dict[str, Any]:
    serializer = serializer_class(data=document)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def _owners(message_id: Any) -> list[int]:
    return accounts_of_message(message_id) if _is_plain(message_id) else []


def _stated_account(request: HttpRequest) -> int | None:
    """The account that the request names; 0, which none has, for what is no id."""
    stated = request.headers.get("X-Account-Id") or request.GET.get("account_id")
    if stated is None:
        return None
    return int(stated) if _ID.fullmatch(stated.strip()) else 0


def _resolved(owners: list[int], stated: int | None) -> int | None:
    """The account that the message is of; None where it is of none, or not of the one that is stated."""
    if stated is not None:
        return stated if stated in owners else None
    return owners[0] if len(owners) == 1 else None


def _require_signature(request: HttpRequest, secret: str) -> None:
    """Without a secret anybody could tell anything of a message, so the installation has to allow that."""
    is_taken = _is_signed_with(secret, request) if secret else settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED
    if not is_taken:
        raise InvalidSignature


def _require_any_signature(request: HttpRequest, account_ids: list[int]) -> None:
    """Of an event of no account: that of the installation, or of an account that it might have been of."""
    for account_id in account_ids:
        with account_scope(account_id):
            secret = str(effective(_SECRET))
        if secret and _is_signed_with(secret, request):
            return
    _require_signature(request, str(installation_value(_SECRET)))


def _is_signed_with(secret: str, request: HttpRequest) -> bool:
    return is_signed(request.body, request.headers, secret=secret, now=timezone.now())


def _event_key(request: HttpRequest, document: dict[str, Any]) -> str:
    """The provider's own id of the event, else what tells it from others."""
    for header in ("svix-id", "webhook-id"):
        if _is_plain(key := request.headers.get(header)):
            return str(key)
    data = document["data"]
    parts = [document["type"], data["email_id"], document.get("created_at"), data.get("created_at")]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _is_plain(text: Any) -> bool:
    return isinstance(text, str) and text.isprintable() and 0 < len(text) <= _MAX_TEXT
