from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.operations import set_suspended
from accounts.queries import get_account
from commerce.commands import OperatorCommand
from commerce.errors import NotFound
from commerce.tenancy.scope import workspace_scope


class Command(OperatorCommand):
    help = "Suspends an account: its keys are refused. --lift ends the suspension."
    examples = {
        "suspend_account 6b8f6a0e-2f0c-4b54-9d0b-0d5f5f1c9a11 my-shop": "repeated, nothing changes",
        "suspend_account 6b8f6a0e-2f0c-4b54-9d0b-0d5f5f1c9a11 my-shop --lift": "let the shop sell again",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("workspace", type=UUID, help="id of the workspace")
        parser.add_argument("account", help="id or handle of the account")
        parser.add_argument("--lift", action="store_true", help="end the suspension")

    def handle(self, *args: object, **options: Any) -> None:
        with workspace_scope(options["workspace"]):
            try:
                account = get_account(options["account"])
            except NotFound:
                raise CommandError(f"The workspace has no account {options['account']!r}.") from None
            changed = set_suspended(account_id=account.pk, suspended=not options["lift"], now=timezone.now())
        state = "active" if options["lift"] else "suspended"
        self.stdout.write(f"{account.handle}: {state}" if changed else f"{account.handle}: unchanged")
