from collections.abc import Iterable

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Q, QuerySet

from accounts.models import Account, ApiKey, Market, User
from commerce.formats import parse_id
from commerce.queries import get_or_not_found
from commerce.tenancy.scope import current_account_id, current_workspace_id
from commerce.tenancy.statements import Call, Prepared, Result

# In the order of the model, as Django expects them.
_SENDER_FIELDS = [
    field.attname
    for field in Account._meta.concrete_fields
    if field.attname in {"id", "name", "email_from", "default_locale", "default_timezone"}
]
_SENDER = Prepared(f"SELECT {', '.join(_SENDER_FIELDS)} FROM accounts WHERE id = %s", reads=True)  # noqa: S608


def workspace_accounts(*, include_archived: bool) -> QuerySet[Account]:
    accounts = Account.objects.filter(workspace_id=current_workspace_id())
    return accounts if include_archived else accounts.exclude(status=Account.Status.ARCHIVED)


def get_account(id_or_handle: str) -> Account:
    """Find an account of the workspace in scope by id or handle, archived or not. Raises `NotFound`.

    A handle contains a letter, so digits alone are an id.
    """
    account_id = parse_id(id_or_handle)
    wanted = {"handle": id_or_handle} if account_id is None else {"pk": account_id}
    return get_or_not_found(workspace_accounts(include_archived=True), **wanted)


def markets() -> QuerySet[Market]:
    """The markets of the account in scope."""
    return Market.objects.all()


def get_market(market_id: int) -> Market:
    """A market of the account in scope; raises `NotFound`."""
    return get_or_not_found(Market.objects, pk=market_id)


def choose_currency(*, market_ids: Iterable[int]) -> str:
    """Choose the currency of an amount that is given without one.

    It is the currency that these markets share (all active ones if none are named), or else the account's default.
    """
    named = list(market_ids)
    meant = (
        Market.objects.filter(pk__in=named) if named else Market.objects.filter(status=Market.Status.ACTIVE)
    )
    currencies = set(meant.values_list("currency", flat=True))
    return currencies.pop() if len(currencies) == 1 else current_account().default_currency


def account_keys() -> QuerySet[ApiKey]:
    """The keys of the account in scope, and those of the workspace if that is in scope too."""
    return ApiKey.objects.filter(Q(account_id=current_account_id()) | Q(account_id__isnull=True))


def get_key(key_id: int) -> ApiKey:
    return get_or_not_found(account_keys(), pk=key_id)


def current_account() -> Account:
    """The account in scope."""
    return Account.objects.get(pk=current_account_id())


def sender_query() -> Call:
    """What messages to customers say about the account in scope. Read it with `read_sender`."""
    return _SENDER.call([current_account_id()])


def read_sender(found: Result) -> Account:
    """Read the result of `sender_query`. Other fields of the account are loaded when they are used."""
    return Account.from_db(DEFAULT_DB_ALIAS, _SENDER_FIELDS, found.rows[0])


def account_id_of(handle: str) -> int | None:
    """Find an account of any workspace by its handle, for commands. Call it outside of any scope."""
    # A policy hides every account while no scope is open; the function belongs to the role that may look across.
    with connection.cursor() as cursor:
        cursor.execute("SELECT account_id_of(%s)", [handle])
        return cursor.fetchone()[0]


def count_shops(user: User) -> int:
    """Return how many accounts a person may enter, archived ones too; none if they were deactivated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM shops_of(%s)", [user.pk])
        count: int = cursor.fetchone()[0]
        return count
