import time
from argparse import ArgumentParser
from contextlib import suppress
from math import inf
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from commerce.commands import OperatorCommand, add_json_option
from commerce.errors import Refusal
from commerce.loops.operations import continue_after_failure
from commerce.outbox import operations, queries
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.scope import account_scope, list_account_ids

_LOOK_EVERY_S = 1.0
_LISTED = 100


class Command(OperatorCommand):
    help = "Shows the outbox, retries dead dispatches, and follows dispatches as they end."
    examples = {
        "outbox status": "count the dispatches of all accounts by task and status",
        "outbox list 17 --status dead --json": "list the dead dispatches of account 17 for a script",
        "outbox retry 17": "restart all dead dispatches of account 17; repeated, there are none left",
        "outbox retry 17 4711 4712": "restart these two",
        "outbox tail 17": "show what ends from now on, until Control-C",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        status = actions.add_parser("status", help="count dispatches by account, task and status")
        status.set_defaults(run=self._status)
        status.add_argument("--account", type=int, metavar="ID", help="show only this account")
        add_json_option(status)
        listing = actions.add_parser("list", help="list an account's dispatches, newest first")
        listing.set_defaults(run=self._list)
        listing.add_argument("account", type=int, help="id of the account")
        listing.add_argument("--status", choices=OutboxDispatch.Status.values, help="only with this status")
        listing.add_argument("--task", metavar="NAME", help="only of this task, such as send_email")
        listing.add_argument(
            "--limit",
            type=int,
            default=_LISTED,
            metavar="NUMBER",
            help="at most so many (default: %(default)s)",
        )
        add_json_option(listing)
        retry = actions.add_parser("retry", help="retry dead or cancelled dispatches of an account")
        retry.set_defaults(run=self._retry)
        retry.add_argument("account", type=int, help="id of the account")
        retry.add_argument(
            "dispatches", type=int, nargs="*", help="ids of dispatches; all dead ones if omitted"
        )
        tail = actions.add_parser("tail", help="show an account's dispatches as they end, until interrupted")
        tail.set_defaults(run=self._tail)
        tail.add_argument("account", type=int, help="id of the account")
        tail.add_argument(
            "--for", dest="seconds", type=float, default=inf, metavar="SECONDS", help="stop after this time"
        )
        add_json_option(tail)

    def handle(self, *args: object, **options: Any) -> None:
        options["run"](options)

    def _status(self, options: dict[str, Any]) -> None:
        account_ids = [options["account"]] if options["account"] else list_account_ids()
        for account_id in tqdm(account_ids, unit="account", disable=None, leave=False):
            with continue_after_failure("outbox_status", account=account_id):
                with account_scope(account_id):
                    counted = queries.count_by_task()
                for row in counted:
                    if options["json"]:
                        self.write_json({"account_id": account_id} | row)
                        continue
                    oldest = row["oldest_due_at"].isoformat(timespec="seconds")
                    columns = (account_id, row["task"], row["status"], row["dispatches"], oldest)
                    self.stdout.write("\t".join(map(str, columns)))

    def _list(self, options: dict[str, Any]) -> None:
        with account_scope(options["account"]):
            found = queries.dispatches(status=options["status"], task_name=options["task"])
            rows = list(found.order_by("-pk")[: options["limit"]])
        for dispatch in rows:
            self._show(dispatch, is_json=options["json"])

    def _retry(self, options: dict[str, Any]) -> None:
        with account_scope(options["account"]):
            ids = options["dispatches"] or list(
                queries.dispatches(status="dead").values_list("pk", flat=True)
            )
            for dispatch_id in ids:
                try:
                    operations.retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
                except Refusal as refusal:
                    # The error ends the scope, which rolls back the earlier retries as well.
                    detail = refusal.detail.rstrip(".")
                    raise CommandError(f"Nothing was retried. {dispatch_id}: {detail}.") from None
        self.stdout.write(f"retried {len(ids)}")

    def _tail(self, options: dict[str, Any]) -> None:
        shown_until = timezone.now()
        deadline = time.monotonic() + options["seconds"]
        # Control-C is the usual way to end it, and no error.
        with suppress(KeyboardInterrupt):
            while time.monotonic() < deadline:
                time.sleep(_LOOK_EVERY_S)
                # One short transaction for each look: a long one would hold back the database's vacuum.
                with account_scope(options["account"]):
                    ended = list(queries.list_ended_since(shown_until))
                for dispatch in ended:
                    self._show(dispatch, is_json=options["json"])
                    shown_until = dispatch.finished_at or shown_until

    def _show(self, dispatch: OutboxDispatch, *, is_json: bool) -> None:
        if is_json:
            self.write_json({"account_id": dispatch.account_id} | _read_columns(dispatch))
            return
        at = dispatch.finished_at or dispatch.due_at
        columns = (
            f"{at:%Y-%m-%dT%H:%M:%S}",
            dispatch.pk,
            dispatch.task_name,
            dispatch.status,
            dispatch.last_error,
        )
        self.stdout.write("\t".join(map(str, columns)).rstrip())


def _read_columns(dispatch: OutboxDispatch) -> dict[str, object]:
    """Without the payload, which has personal data."""
    return {
        "id": dispatch.pk,
        "task": dispatch.task_name,
        "status": dispatch.status,
        "attempts": dispatch.attempts,
        "due_at": dispatch.due_at,
        "finished_at": dispatch.finished_at,
        "last_error": dispatch.last_error,
        "request_id": dispatch.request_id,
    }
