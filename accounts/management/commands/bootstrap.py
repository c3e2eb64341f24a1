from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import IntegrityError, transaction

from accounts.management.terminal import show_refusals
from accounts.models import User
from accounts.operations import bootstrap_workspace
from accounts.rules import OPERATOR_LOGIN, WORKSPACE
from commerce.commands import OperatorCommand, add_json_option


class Command(OperatorCommand):
    help = "Creates a workspace and a key for it, and on request the first user of the back office."
    examples = {
        'bootstrap "My company"': "each run creates another workspace",
        'bootstrap "My company" --staff-user ada --staff-password "..."': (
            "also create an operator; repeated, it fails because ada exists, and creates nothing"
        ),
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the workspace")
        parser.add_argument("--staff-user", metavar="USERNAME", help="also create this superuser")
        parser.add_argument("--staff-password", metavar="PASSWORD", help="the superuser's password")
        add_json_option(parser)

    def handle(self, *args: object, **options: Any) -> None:
        with show_refusals():
            # Checked before the superuser is created, which commits separately.
            WORKSPACE.check({"name": options["name"]})
            if options["staff_user"]:
                OPERATOR_LOGIN.check({"username": options["staff_user"]})
        if options["staff_user"]:
            username, password = options["staff_user"], options["staff_password"]
            if not password:
                raise CommandError("--staff-user needs --staff-password.")
            try:
                # A savepoint of its own, so that the failed statement doesn't spoil a transaction around the command.
                with transaction.atomic():
                    User.objects.create_superuser(username=username, password=password)
            except IntegrityError:
                raise CommandError(f"The user {username!r} already exists.") from None
        workspace, issued = bootstrap_workspace(name=options["name"])
        if options["json"]:
            self.write_json({"workspace_id": workspace.pk, "key": issued.secret})
        else:
            self.stdout.write(f"workspace {workspace.pk}")
            self.stdout.write(f"key {issued.secret}")
        self.stderr.write("The key is shown only once. It has full access to the workspace.")
