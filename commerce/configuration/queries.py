from commerce.tenancy.locks import lock_account

from .models import AccountSetting
from .registry import MASK, Value, installation_value, known_settings


def read_setting(name: str) -> Value:
    """Read a setting's value: the account's own, else the environment's, else the default."""
    own = AccountSetting.objects.filter(name=name).values_list("value", flat=True).first()
    return installation_value(name) if own is None else own


def read_own_settings() -> dict[str, Value]:
    """Read the values that the account in scope has set itself, by name."""
    # A setting that no app declares any more may still have a row.
    return dict(AccountSetting.objects.filter(name__in=known_settings()).values_list("name", "value"))


def lock_settings() -> None:
    """Lock the account's settings against changes until the end of the transaction."""
    # The account's row stands for them, because a setting without a value of its own has no row to lock.
    lock_account()


def read_settings() -> dict[str, Value]:
    """Read all settings with the values that `read_setting` gives, in one statement."""
    own = dict(AccountSetting.objects.values_list("name", "value"))
    return {name: own.get(name, installation_value(name)) for name in known_settings()}


def read_masked_settings() -> dict[str, Value]:
    """Like `read_settings`, with secrets masked."""
    known = known_settings()
    return {
        name: MASK if value and known[name].is_secret else value for name, value in read_settings().items()
    }
