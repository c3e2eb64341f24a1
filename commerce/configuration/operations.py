from typing import Any

from commerce.errors import FieldError, ValidationFailed

from .models import AccountSetting
from .registry import MASK, SETTINGS, InvalidValue


def change_settings(*, changes: dict[str, Any]) -> None:
    """Set an account's own values by name; None takes its own value away.

    Raises `ValidationFailed` with an error for each unknown name and each value that is not taken.
    """
    changes = {name: value for name, value in changes.items() if not _is_masked(name, value)}
    own = {name: value for name, value in _checked(changes).items() if value is not None}
    AccountSetting.objects.filter(name__in=changes.keys() - own.keys()).delete()
    AccountSetting.objects.bulk_create(
        # In the order of names, so that two changes at once can't deadlock.
        [AccountSetting(name=name, value=own[name]) for name in sorted(own)],
        update_conflicts=True,
        unique_fields=["account", "name"],
        update_fields=["value", "updated_at"],
    )


def _is_masked(name: str, value: Any) -> bool:
    """Whether a client sends back a secret as it was shown, which leaves it as it is."""
    return value == MASK and name in SETTINGS and SETTINGS[name].is_secret


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    errors = [error for name, value in changes.items() if (error := _error_of(name, value))]
    if errors:
        raise ValidationFailed(errors=tuple(errors))
    return changes


def _error_of(name: str, value: Any) -> FieldError | None:
    if name not in SETTINGS:
        return FieldError(f"settings.{name}", "unknown_setting", "There is no setting of this name.")
    if value is None:
        return None
    try:
        SETTINGS[name].checked(value)
    except InvalidValue as error:
        return FieldError(f"settings.{name}", error.code, str(error))
    return None
