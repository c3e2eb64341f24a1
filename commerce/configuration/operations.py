from collections.abc import Mapping
from typing import Any

from commerce.errors import FieldError, ValidationFailed
from commerce.wording import Wording

from .models import AccountSetting
from .queries import lock_settings, read_own_settings
from .registry import MASK, InvalidValue, Setting, Value, known_settings


def change_settings(*, changes: dict[str, object]) -> None:
    """Set an account's own values by name; None removes one.

    A request that changes where a secret is sent must give the secret again, or remove it. Raises `ValidationFailed`
    with an error for each unknown name, invalid value and missing secret.
    """
    # Two changes at once could each pass the check for secrets, and together send one elsewhere.
    lock_settings()
    known = known_settings()
    # A client may send back all settings as it has read them, with masks instead of secrets: those stay unchanged.
    changes = {
        name: value
        for name, value in changes.items()
        if not (value == MASK and name in known and known[name].is_secret)
    }
    checked = _check(changes)
    own: dict[str, Any] = {name: value for name, value in checked.items() if value is not None}
    _require_secrets(checked)
    AccountSetting.objects.filter(name__in=checked.keys() - own.keys()).delete()
    AccountSetting.objects.bulk_create(
        # Ordered by name, so that two changes at once can't deadlock.
        [AccountSetting(name=name, value=own[name]) for name in sorted(own)],
        update_conflicts=True,
        unique_fields=["account", "name"],
        update_fields=["value", "updated_at"],
    )


def _require_secrets(changes: dict[str, Any]) -> None:
    """Raise unless each secret whose destination changes is given again. Call it with the settings locked.

    Otherwise whoever may change settings could learn a stored password, by naming a server of their own as its host.
    """
    secrets = [setting for setting in known_settings().values() if setting.sent_by]
    # Most changes concern no secret, and need no further statement.
    if not any(secret.name in changes or _list_moves(secret, changes) for secret in secrets):
        return
    before = read_own_settings()
    after = before | changes
    errors = []
    for secret in secrets:
        is_kept = bool(before.get(secret.name)) and secret.name not in changes
        # Setting a default explicitly moves nothing.
        moved = [
            name
            for name in _list_moves(secret, changes)
            if _get_used_value(name, before) != _get_used_value(name, after)
        ]
        if is_kept and moved:
            detail = Wording(
                "Changing %(settings)s changes where this secret is sent: enter it again, or remove it.",
                settings=", ".join(moved),
            )
            errors.append(FieldError(f"settings.{secret.name}", "secret_required", detail))
    if errors:
        raise ValidationFailed(errors=tuple(errors))


def _list_moves(secret: Setting, changes: Mapping[str, object]) -> list[str]:
    return [name for name in secret.sent_by if name in changes]


def _get_used_value(name: str, own: dict[str, Any]) -> Value:
    """Return the value that is used with an account's own secret, which is never one of the installation's."""
    return known_settings()[name].default if own.get(name) is None else own[name]


def _check(changes: Mapping[str, object]) -> dict[str, Value | None]:
    """Return the values as they are stored, such as an IBAN without spaces. Raises `ValidationFailed` with all errors."""
    checked: dict[str, Value | None] = {}
    errors = []
    for name, value in changes.items():
        setting = known_settings().get(name)
        if setting is None:
            errors.append(
                FieldError(f"settings.{name}", "unknown_setting", "There is no setting with this name.")
            )
            continue
        try:
            checked[name] = None if value is None else setting.check_own(value)
        except InvalidValue as error:
            errors.append(FieldError(f"settings.{name}", error.code, str(error)))
    if errors:
        raise ValidationFailed(errors=tuple(errors))
    return checked
