"""Puts emails into the outbox. Each kind of email is a folder in `settings.EMAIL_FOLDERS`, named by its key.

The app `emails` renders and sends them (docs/extending.md, "Add an email"). This module is below it, so that every
domain can send without knowing it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.conf import settings

from commerce.outbox.operations import enqueue
from commerce.principal import Holder
from commerce.tenancy.instances import LateText

SEND_EMAIL = "send_email"

# The scope that a key needs, besides those of emails, to read variables and text. By the key of the kind of email.
_scopes: dict[str, str] = {}

Variables = TypeVar("Variables", bound=Mapping[str, object])


@dataclass(frozen=True)
class EmailKind(Generic[Variables]):
    """A kind of email: the name of its folder, the type of its variables, and what `reference_id` refers to."""

    key: str
    reference_type: str | None


def require_scope_to_read(kind: EmailKind[Any], scope: str) -> None:
    """Let only keys with this scope read such an email, because it contains something like a gift card's code."""
    _scopes[kind.key] = scope


def find_scope_to_read(template_key: str) -> str | None:
    """Return the scope that a key needs, besides those of emails, to read what such an email says."""
    return _scopes.get(template_key)


def list_keys_hidden_from(holder: Holder) -> list[str]:
    """The kinds of email whose text this holder of scopes may not read."""
    return [key for key, scope in _scopes.items() if not holder.may(scope)]


def enqueue_email(
    kind: EmailKind[Variables],
    *,
    to_email: str,
    customer_id: int | None,
    variables: Variables,
    reference_id: int | None,
    idempotency_key: str,
    now: datetime,
    locale: str | None = None,
    late: LateText | None = None,
) -> None:
    """Enqueue an email, to be sent once the caller's transaction has committed.

    Without a locale, the customer's is used, or else the account's. A customer who has switched this kind of email off
    doesn't get it. A repeated idempotency key sends no second email. `late` is put into the variables.
    """
    payload: dict[str, object] = {
        "template_key": kind.key,
        "to_email": to_email,
        "customer_id": customer_id,
        "ctx": variables,
        "reference_type": kind.reference_type,
        "reference_id": reference_id,
    }
    if locale is not None:
        payload["locale"] = locale
    enqueue(
        task_name=SEND_EMAIL,
        payload=payload,
        idempotency_key=idempotency_key,
        now=now,
        late=None if late is None else late.within("ctx"),
    )


def email_folders() -> dict[str, Path]:
    """The folder of every kind of email, by its key."""
    return _list_folders(tuple(settings.EMAIL_FOLDERS))


# Read once in each process, as only a deployment adds folders. By the setting's value, which tests change.
@cache
def _list_folders(parents: tuple[Path, ...]) -> dict[str, Path]:
    folders = [path for parent in parents for path in parent.iterdir() if path.is_dir()]
    return {path.name: path for path in sorted(folders)}
