from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from tqdm import tqdm

from accounts.management.terminal import find_account_id
from accounts.models import Account
from accounts.queries import current_account
from commerce.commands import OperatorCommand, add_json_option
from commerce.customers.models import Customer
from commerce.loops.operations import continue_after_failure
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.scope import account_scope, list_account_ids


class Command(OperatorCommand):
    help = "Lists the accounts of all workspaces: id, handle, status, workspace and name."
    examples = {
        "accounts": "list all accounts",
        "accounts my-shop --counts": "show one, with its orders, customers and dispatches",
        "accounts --status suspended --json": "list suspended accounts for a script",
        "accounts --workspace 6b8f6a0e-2f0c-4b54-9d0b-0d5f5f1c9a11": "list the accounts of a workspace",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("accounts", nargs="*", metavar="HANDLE", help="only these (default: all)")
        parser.add_argument("--status", choices=Account.Status.values, help="only with this status")
        parser.add_argument("--workspace", type=UUID, metavar="ID", help="only of this workspace")
        parser.add_argument(
            "--counts",
            action="store_true",
            help="also count orders, customers, and pending and dead dispatches, and tell when the last order was"
            " placed; takes longer",
        )
        add_json_option(parser)

    def handle(self, *args: object, **options: Any) -> None:
        for row in _read_rows(options):
            if options["json"]:
                self.write_json(row)
            else:
                self.stdout.write("\t".join("-" if value is None else str(value) for value in row.values()))


def _read_rows(options: dict[str, Any]) -> Iterator[dict[str, object]]:
    handles = options["accounts"]
    account_ids = [find_account_id(handle) for handle in handles] if handles else list_account_ids()
    for account_id in tqdm(account_ids, unit="account", disable=None, leave=False):
        row = None
        with continue_after_failure("accounts", account=account_id), account_scope(account_id):
            account = current_account()
            if options["status"] in {None, account.status} and options["workspace"] in {
                None,
                account.workspace_id,
            }:
                row = _read_columns(account) | (_count() if options["counts"] else {})
        if row is not None:
            yield row


def _read_columns(account: Account) -> dict[str, object]:
    return {
        "id": account.pk,
        "handle": account.handle,
        "status": account.status,
        "workspace_id": account.workspace_id,
        "name": account.name,
    }


def _count() -> dict[str, object]:
    """Count what the account in scope has."""
    statuses = OutboxDispatch.Status
    last = Order.objects.order_by("-placed_at").values_list("placed_at", flat=True).first()
    return {
        "orders": Order.objects.count(),
        "customers": Customer.objects.count(),
        "pending_dispatches": OutboxDispatch.objects.filter(status=statuses.PENDING).count(),
        "dead_dispatches": OutboxDispatch.objects.filter(status=statuses.DEAD).count(),
        "last_order_at": last,
    }
