import time
from argparse import ArgumentParser
from contextlib import suppress
from math import inf
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from commerce.errors import Refusal
from commerce.loops.operations import continue_after_failure
from commerce.outbox import operations, queries
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.scope import account_scope, list_account_ids

_LOOK_EVERY_S = 1.0


class Command(BaseCommand):
    help = "Shows the outbox, retries dead dispatches, and follows dispatches as they end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        status = actions.add_parser("status", help="count dispatches by account, task and status")
        status.set_defaults(run=self._status)
        status.add_argument("--account", type=int, metavar="ID", help="show only this account")
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

    def handle(self, *args: object, **options: Any) -> None:
        options["run"](options)

    def _status(self, options: dict[str, Any]) -> None:
        for account_id in [options["account"]] if options["account"] else list_account_ids():
            with continue_after_failure("outbox_status", account=account_id):
                with account_scope(account_id):
                    counted = queries.count_by_task()
                for row in counted:
                    oldest = row["oldest_due_at"].isoformat(timespec="seconds")
                    columns = (account_id, row["task"], row["status"], row["dispatches"], oldest)
                    self.stdout.write("\t".join(map(str, columns)))

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
                    self.stdout.write(_describe(dispatch))
                    shown_until = dispatch.finished_at or shown_until


def _describe(dispatch: OutboxDispatch) -> str:
    ended = f"{dispatch.finished_at:%Y-%m-%dT%H:%M:%S}"
    return f"{ended}\t{dispatch.pk}\t{dispatch.task_name}\t{dispatch.status}\t{dispatch.last_error}".rstrip()
