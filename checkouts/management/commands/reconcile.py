from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from accounts.queries import account_id_of, current_account
from checkouts.reconciliation import find_differences
from commerce.commands import OperatorCommand, add_json_option
from commerce.loops.operations import continue_after_failure
from commerce.tenancy.scope import account_scope, list_account_ids


class Command(OperatorCommand):
    help = "Checks that the accounts' books agree with their ledgers; exits with 1 if they don't."
    examples = {
        "reconcile": "check all accounts; it only reads, and shops may sell meanwhile",
        "reconcile my-shop other-shop": "check these two",
        "reconcile --json > differences.jsonl": "write an object for each difference, and nothing if there is none",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "accounts", nargs="*", metavar="HANDLE", help="only these accounts (default: all)"
        )
        add_json_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        account_ids = _find_account_ids(options["accounts"]) if options["accounts"] else list_account_ids()
        found = unread = 0
        for account_id in tqdm(account_ids, unit="account", disable=None):
            # Counted as unread until the end, because a failure leaves the block without raising.
            unread += 1
            with continue_after_failure("reconcile", account=account_id):
                with account_scope(account_id):
                    handle = current_account().handle
                    differences = list(find_differences())
                for difference in differences:
                    if options["json"]:
                        row = {"account_id": account_id, "account": handle, "difference": difference}
                        self.write_json(row)
                    else:
                        self.stdout.write(f"{handle}: {difference}")
                found += len(differences)
                unread -= 1
        # What couldn't be checked may be wrong as well, so it is no success.
        if unread:
            raise CommandError(
                f"{unread} of {len(account_ids)} accounts couldn't be checked, see the log; "
                f"{found} differences in the others"
            )
        if found:
            raise CommandError(f"{found} differences in {len(account_ids)} accounts")
        if not options["json"]:
            self.stdout.write(f"no differences in {len(account_ids)} accounts")


def _find_account_ids(handles: list[str]) -> list[int]:
    found = {handle: account_id_of(handle) for handle in handles}
    if unknown := [handle for handle, account_id in found.items() if account_id is None]:
        raise CommandError(f"There is no account {', '.join(unknown)}.")
    return [account_id for account_id in found.values() if account_id is not None]
