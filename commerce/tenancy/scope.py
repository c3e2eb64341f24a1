"""The only way to an account's rows: a scope, which is a transaction bound to one account."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import connection, transaction

from .postgresql.transactions import TransactionBeginningWith

# Opens a scope in a new transaction. For operations that open one before and one after calling another service.
ScopeOpener = Callable[[], AbstractContextManager[None]]

_account_id: ContextVar[int | None] = ContextVar("account_id", default=None)
_workspace_id: ContextVar[UUID | None] = ContextVar("workspace_id", default=None)


class NoAccountInScope(RuntimeError):
    """Account-owned rows were queried outside of `account_scope`."""


class NoWorkspaceInScope(RuntimeError):
    """A workspace's directory was queried outside of `workspace_scope`."""


class ScopeAlreadyOpen(RuntimeError):
    """A scope was opened inside another one.

    `SET LOCAL` lasts beyond a savepoint, so the outer scope would go on with the inner one's account.
    """


def current_account_id() -> int:
    """The id of the account in scope; raises `NoAccountInScope` if there is none."""
    account_id = _account_id.get()
    if account_id is None:
        raise NoAccountInScope("Open account_scope(account_id) before touching an account's rows.")
    return account_id


def current_workspace_id() -> UUID:
    """The id of the workspace in scope; raises `NoWorkspaceInScope` if there is none."""
    workspace_id = _workspace_id.get()
    if workspace_id is None:
        raise NoWorkspaceInScope(
            "Open workspace_scope(workspace_id) before touching a workspace's directory."
        )
    return workspace_id


def account_in_scope() -> int | None:
    return _account_id.get()


def list_account_ids() -> list[int]:
    """The ids of all accounts of the installation, for commands. Call it outside of any scope."""
    with connection.cursor() as cursor:
        # The serving role sees no accounts outside of a scope, but may call this function for their ids.
        cursor.execute("SELECT account_ids()")
        return [row[0] for row in cursor.fetchall()]


@contextmanager
def account_scope(account_id: int, *, workspace_id: UUID | None = None) -> Iterator[None]:
    """A transaction in which exactly one account's rows are visible.

    With `workspace_id`, so are the directory rows of that workspace, as for its own keys. Must be the outermost scope,
    or directly inside a `workspace_scope`.
    """
    if _account_id.get() is not None:
        raise ScopeAlreadyOpen("An account scope is already open.")
    settings = {"commerce.account_id": str(int(account_id))}
    if workspace_id is not None:
        settings["commerce.workspace_id"] = str(UUID(str(workspace_id)))
    token = _account_id.set(int(account_id))
    try:
        # Durable, or an enclosing transaction would commit the work later than the scope ends, if at all.
        with _open_transaction(settings, durable=_workspace_id.get() is None):
            yield
    finally:
        _account_id.reset(token)


@contextmanager
def workspace_scope(workspace_id: UUID) -> Iterator[None]:
    """A transaction in which the directory of one workspace is visible, and no account's rows."""
    if _account_id.get() is not None or _workspace_id.get() is not None:
        raise ScopeAlreadyOpen("A scope is already open.")
    token = _workspace_id.set(workspace_id)
    try:
        with _open_transaction({"commerce.workspace_id": str(UUID(str(workspace_id)))}, durable=True):
            yield
    finally:
        _workspace_id.reset(token)


def _open_transaction(settings: dict[str, str], *, durable: bool) -> AbstractContextManager[None]:
    """A transaction with local settings.

    The values are formatted into the statement, since SET takes no parameters. They are safe, as callers make them
    from an int or a UUID. Not `set_config()`, because Citus forwards only `SET LOCAL` to its shards.
    """
    if connection.in_atomic_block:
        return _open_inner_transaction(settings, durable=durable)
    return TransactionBeginningWith(_set_local(settings))


@contextmanager
def _open_inner_transaction(settings: dict[str, str], *, durable: bool) -> Iterator[None]:
    with transaction.atomic(durable=durable), connection.cursor() as cursor:
        cursor.execute("; ".join(_set_local(settings)))
        yield
    # A transaction that has to be rolled back accepts no statement, and its settings go with it.
    if not connection.needs_rollback:
        # The enclosing transaction (of a workspace scope or a test) goes on, and would keep the setting.
        with connection.cursor() as cursor:
            cursor.execute("; ".join(_set_local(dict.fromkeys(settings, ""))))


def _set_local(settings: dict[str, str]) -> list[str]:
    return [f"SET LOCAL {name} = '{value}'" for name, value in settings.items()]
