import orjson

from commerce.tenancy.locks import lock_account
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, Result, send

from .models import AccountSetting
from .registry import MASK, Value, installation_value, known_settings

_OWN = Prepared("SELECT name, value::text FROM account_settings WHERE account_id = %s", reads=True)


def read_setting(name: str) -> Value:
    """Read a setting's value: the account's own, else the environment's, else the default."""
    own = AccountSetting.objects.filter(name=name).values_list("value", flat=True).first()
    return installation_value(name) if own is None else own


def read_own_settings() -> dict[str, Value]:
    """Read the values that the account in scope has set itself, by name."""
    (found,) = send(settings_query())
    return read_own_settings_found(found)


def settings_query() -> Call:
    """Finds the account's own settings. Read them with `read_own_settings_found`."""
    return _OWN.call([current_account_id()])


def read_own_settings_found(found: Result) -> dict[str, Value]:
    return _known({name: orjson.loads(value) for name, value in found.rows})


def lock_settings() -> None:
    """Lock the account's settings against changes until the end of the transaction."""
    # The account's row stands for them, because a setting without a value of its own has no row to lock.
    lock_account()


def read_settings() -> dict[str, Value]:
    """Read all settings with the values that `read_setting` gives, in one statement."""
    return _complete(read_own_settings())


def own_settings_sql(account: str) -> str:
    """The SQL expression of the account's own settings, for `parse_settings` and `parse_own_settings`. `account` is that of its id."""
    return f"(SELECT json_object_agg(a.name, a.value)::text FROM account_settings a WHERE a.account_id = {account})"  # noqa: S608


def parse_settings(own: str | None) -> dict[str, Value]:
    """Parse the value of `own_settings_sql`. Return what `read_settings` does."""
    return _complete(parse_own_settings(own))


def parse_own_settings(own: str | None) -> dict[str, Value]:
    """Parse the value of `own_settings_sql`: the values that the account has set itself, by name."""
    return _known(orjson.loads(own) if own else {})


def _known(own: dict[str, Value]) -> dict[str, Value]:
    known = known_settings()
    # A setting that no app declares any more may still have a row.
    return {name: value for name, value in own.items() if name in known}


def _complete(own: dict[str, Value]) -> dict[str, Value]:
    return {name: own.get(name, installation_value(name)) for name in known_settings()}


def read_masked_settings() -> dict[str, Value]:
    """Like `read_settings`, with secrets masked."""
    known = known_settings()
    return {
        name: MASK if value and known[name].is_secret else value for name, value in read_settings().items()
    }
