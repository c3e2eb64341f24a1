"""Changes of an account's own templates. Every change is a version; of two concurrent ones, one is refused."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import orjson
from django.db import connection

from accounts.queries import current_account
from commerce.errors import ValidationFailed
from commerce.mail import EmailKind, enqueue_email
from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.tenancy.locks import lock_account
from commerce.tenancy.scope import ScopeOpener, current_account_id
from commerce.wording import Wording
from emails.errors import TemplateVersionConflict
from emails.own_templates.models import EmailTemplateVersion
from emails.own_templates.queries import (
    CurrentTemplate,
    count_own_locales,
    find_last_version,
    get_template,
    get_version,
    read_source,
    require_template,
)
from emails.own_templates.rendering import render_draft
from emails.own_templates.rules import CHANGE, TEST_MESSAGE, check_draft
from emails.own_templates.samples import load_sample_ctx
from emails.renderer.limits import MAX_WARNING_CHARACTERS, MAX_WARNING_TAG_CHARACTERS, MAX_WARNINGS
from emails.renderer_client import Rendered
from emails.template_sources import TemplateSource

Kind = EmailTemplateVersion.Kind


MAX_LOCALES = 50
TEST_REFERENCE = "email_template_test"

# The unique number lets only one of two simultaneous changes win, without a lock while templates are rendered.
_APPEND = """
    INSERT INTO email_template_versions (
        account_id, template_key, locale, number, kind, restored_number, subject, preheader, body_source,
        body_text, warnings, note, author, created_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (account_id, template_key, locale, number) DO NOTHING
    RETURNING id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a template by someone who has seen `expected_version` of it (0: none yet)."""

    template_key: str
    locale: str
    expected_version: int
    author: str
    note: str | None = None


def save_template(
    *, scope: ScopeOpener, change: Change, draft: TemplateSource, now: datetime
) -> CurrentTemplate:
    """Save an account's own template if it renders with the sample. Called outside of any scope.

    Raises `TemplateNotFound`, `TemplateVersionConflict`, `ValidationFailed`, `TemplateInvalid`, `RendererFailed`.
    """
    draft = check_draft(draft)
    with scope():
        # Early, before a draft is rendered in vain. Both are checked again before it is stored.
        _check_version(change)
        _require_room(change)
        account = current_account()
    rendered = render_draft(account=account, source=draft, ctx=load_sample_ctx(change.template_key))
    with scope():
        warnings = [asdict(warning) for warning in rendered.warnings]
        # Only the first version adds a locale, so others need no lock.
        if not change.expected_version:
            lock_account()
            _require_room(change)
        _append(change, Kind.SAVED, draft, warnings=warnings, now=now)
        return get_template(change.template_key, change.locale)


def restore_version(*, change: Change, version_id: int, now: datetime) -> CurrentTemplate:
    """Save the text of an earlier version as a new version.

    Raises `TemplateNotFound`, `NotFound`, `TemplateVersionConflict`.
    """
    old = get_version(change.template_key, change.locale, version_id)
    if old.is_reset:
        _append(change, Kind.RESET, now=now)
    else:
        _append(
            change,
            Kind.RESTORED,
            read_source(old),
            warnings=old.warnings,
            restored_number=old.number,
            now=now,
        )
    return get_template(change.template_key, change.locale)


def reset_template(
    *, template_key: str, locale: str, expected_version: int | None, author: str, now: datetime
) -> CurrentTemplate:
    """Go back to the platform's template. Without an expected version, any current one is replaced.

    Raises `TemplateNotFound`, `TemplateVersionConflict`.
    """
    last = find_last_version(template_key, locale)
    # Without an own template, there is nothing to reset: repeating a reset adds no version.
    if last and not last.is_reset:
        change = Change(
            template_key=template_key,
            locale=locale,
            expected_version=last.number if expected_version is None else expected_version,
            author=author,
        )
        _append(change, Kind.RESET, now=now)
    return get_template(template_key, locale)


def preview_template(
    *,
    scope: ScopeOpener,
    template_key: str,
    locale: str,
    changes: dict[str, str | None],
    ctx: dict[str, object] | None,
) -> Rendered:
    """Render the current template with some parts changed. Called outside of any scope.

    Raises `TemplateNotFound`, `TemplateInvalid`, `RendererFailed`.
    """
    with scope():
        account, source = current_account(), get_template(template_key, locale).text
    # A changed part makes it this locale's own template, though the current one may be in a near locale.
    draft = TemplateSource(**asdict(source) | changes | ({"locale": locale} if changes else {}))
    return render_draft(
        account=account, source=draft, ctx=load_sample_ctx(template_key) if ctx is None else ctx
    )


def send_test(
    *, template_key: str, locale: str, to_email: str, ctx: dict[str, object] | None, now: datetime
) -> OutboxDispatch:
    """Send a message of the current template to any address. Raises `TemplateNotFound` and `ValidationFailed`."""
    require_template(template_key)
    message = TEST_MESSAGE.check({"to_email": to_email, "ctx": ctx})
    # Random, so that the same test may be sent again.
    key = f"{TEST_REFERENCE}/{uuid4()}"
    enqueue_email(
        EmailKind[dict[str, object]](template_key, TEST_REFERENCE),
        to_email=message["to_email"],
        # To any address, so no customer's preferences apply.
        customer_id=None,
        locale=locale,
        variables=load_sample_ctx(template_key) if ctx is None else ctx,
        reference_id=None,
        idempotency_key=key,
        now=now,
    )
    return OutboxDispatch.objects.get(key_space=KeySpace.PRODUCT, idempotency_key=key)


def _require_room(change: Change) -> None:
    """Raises `ValidationFailed` if the change would add one locale too many."""
    if not change.expected_version and count_own_locales(change.template_key) >= MAX_LOCALES:
        detail = Wording(
            "An account can have its own version of a template in at most %(count)s locales.",
            count=MAX_LOCALES,
        )
        raise ValidationFailed.of("locale", "too_many", detail)


def _check_version(change: Change) -> None:
    CHANGE.check({"expected_version": change.expected_version, "note": change.note})
    number = _find_last_number(change)
    if number != change.expected_version:
        raise TemplateVersionConflict(current_version=number)


def _find_last_number(change: Change) -> int:
    last = find_last_version(change.template_key, change.locale)
    return last.number if last else 0


def _append(
    change: Change,
    kind: Kind,
    draft: TemplateSource | None = None,
    *,
    now: datetime,
    warnings: list[dict[str, Any]] | None = None,
    restored_number: int | None = None,
) -> None:
    """Insert the version after the expected one. Raises `TemplateNotFound`, `TemplateVersionConflict`."""
    _check_version(change)
    number = change.expected_version + 1
    text = (draft.subject, draft.preheader, draft.body, draft.text) if draft else ("", None, "", None)
    values = [
        *(current_account_id(), change.template_key, change.locale, number, kind, restored_number),
        *(*text, orjson.dumps(_shorten(warnings or [])).decode(), change.note, change.author, now),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_APPEND, values)
        is_first = cursor.fetchone() is not None
    if not is_first:
        raise TemplateVersionConflict(current_version=_find_last_number(change))


def _shorten(warnings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As the renderer does: an older release stored more of them, and restoring copies them."""
    return [
        warning
        | {
            "tag": warning["tag"][:MAX_WARNING_TAG_CHARACTERS],
            "message": warning["message"][:MAX_WARNING_CHARACTERS],
        }
        # The renderer's last says how many more there are.
        for warning in warnings[: MAX_WARNINGS + 1]
    ]
