from collections.abc import Mapping
from typing import Any

from commerce.errors import FieldError, ValidationFailed

from .models import AccountSetting
from .queries import lock_settings, read_own_settings
from .registry import MASK, InvalidValue, Setting, Value, known_settings


def change_settings(*, changes: dict[str, object]) -> None:
    """Set an account's own values by name; None removes one.

    A request that changes where a secret is sent must give the secret again, or remove it. Raises `ValidationFailed`
    with an error for each unknown name, invalid value and missing secret.
    """
    lock_settings()
    changes = {name: value for name, value in changes.items() if not _is_masked(name, value)}
    own = {name: value for name, value in _checked(changes).items() if value is not None}
    _require_secrets(changes)
    AccountSetting.objects.filter(name__in=changes.keys() - own.keys()).delete()
    AccountSetting.objects.bulk_create(
        # Ordered by name, so that two changes at once can't deadlock.
        [AccountSetting(name=name, value=own[name]) for name in sorted(own)],
        update_conflicts=True,
        unique_fields=["account", "name"],
        update_fields=["value", "updated_at"],
    )


def _require_secrets(changes: dict[str, Any]) -> None:
    """Raise unless each secret whose destination changes is given again. Call it with the settings locked."""
    secrets = [setting for setting in known_settings().values() if setting.sent_by]
    if not any(secret.name in changes or _moves(secret, changes) for secret in secrets):
        return
    before = read_own_settings()
    after = before | changes
    errors = []
    for secret in secrets:
        is_kept = bool(before.get(secret.name)) and secret.name not in changes
        moved = [name for name in _moves(secret, changes) if _used(name, before) != _used(name, after)]
        if is_kept and moved:
            detail = f"Changing {', '.join(moved)} changes where this secret is sent: give it again, or null."
            errors.append(FieldError(f"settings.{secret.name}", "secret_required", detail))
    if errors:
        raise ValidationFailed(errors=tuple(errors))


def _moves(secret: Setting, changes: Mapping[str, object]) -> list[str]:
    return [name for name in secret.sent_by if name in changes]


def _used(name: str, own: dict[str, Any]) -> Value:
    """The value used with an account's own secret, which is never one of the installation's."""
    return known_settings()[name].default if own.get(name) is None else own[name]


def _is_masked(name: str, value: object) -> bool:
    """Whether a client sends a masked secret back, which leaves the secret unchanged."""
    setting = known_settings().get(name)
    return value == MASK and setting is not None and setting.is_secret


def _checked(changes: dict[str, object]) -> dict[str, Any]:
    errors = [error for name, value in changes.items() if (error := _error_of(name, value))]
    if errors:
        raise ValidationFailed(errors=tuple(errors))
    return changes


def _error_of(name: str, value: object) -> FieldError | None:
    setting = known_settings().get(name)
    if setting is None:
        return FieldError(f"settings.{name}", "unknown_setting", "There is no setting of this name.")
    if value is None:
        return None
    try:
        setting.checked(value)
    except InvalidValue as error:
        return FieldError(f"settings.{name}", error.code, str(error))
    return None
