from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.management.terminal import parse_moment, show_refusals
from accounts.models import Account, ApiKey, Workspace
from accounts.operations import OPERATOR, IssuedKey, issue_key, revoke_key, rotate_key
from commerce.commands import OperatorCommand, add_json_option
from commerce.principal import SCOPES
from commerce.tenancy.scope import workspace_scope

# For the examples.
_WORKSPACE = "6b8f6a0e-2f0c-4b54-9d0b-0d5f5f1c9a11"


class Command(OperatorCommand):
    help = "Issues, lists, rotates and revokes the keys of a workspace and its accounts."
    examples = {
        f"keys {_WORKSPACE} list --json": "list all keys for a script",
        f'keys {_WORKSPACE} issue storefront "Web shop" --account my-shop': "a public key of a storefront",
        f'keys {_WORKSPACE} issue admin "ERP" --account my-shop --scope read_orders --scope write_inventory': (
            "a key that may do nothing else"
        ),
        f"keys {_WORKSPACE} rotate 17 --grace 86400": "a new secret; the old one works for another day",
        f"keys {_WORKSPACE} revoke 17": "refuse a key at once; repeated, nothing changes",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("workspace", type=UUID, help="id of the workspace")
        actions = parser.add_subparsers(dest="action", required=True)
        issue = actions.add_parser("issue", help="issue a key and show its secret once")
        issue.set_defaults(run=self._issue)
        issue.add_argument("kind", choices=ApiKey.Kind.values)
        issue.add_argument("name", help="what the key is for")
        issue.add_argument("--account", metavar="HANDLE", help="the account of an admin or storefront key")
        issue.add_argument(
            "--scope",
            action="append",
            choices=SCOPES,
            metavar="SCOPE",
            help="may be repeated; all scopes if omitted",
        )
        issue.add_argument(
            "--expires-at", type=parse_moment, metavar="TIMESTAMP", help="ISO 8601 with an offset"
        )
        listing = actions.add_parser("list", help="show all keys, without their secrets")
        listing.set_defaults(run=self._list)
        add_json_option(listing)
        add_json_option(issue)
        rotate = actions.add_parser(
            "rotate", help="replace a key, and end the old one after the grace period"
        )
        rotate.set_defaults(run=self._rotate)
        rotate.add_argument("key", type=int, help="id of the key")
        rotate.add_argument(
            "--grace", type=int, default=0, metavar="SECONDS", help="how long the old key still works"
        )
        add_json_option(rotate)
        revoke = actions.add_parser("revoke", help="revoke a key at once")
        revoke.set_defaults(run=self._revoke)
        revoke.add_argument("key", type=int, help="id of the key")

    def handle(self, *args: object, **options: Any) -> None:
        with workspace_scope(options["workspace"]), show_refusals():
            # A scope shows no other workspace than its own.
            if not Workspace.objects.exists():
                raise CommandError(f"Workspace {options['workspace']} doesn't exist.")
            options["run"](options)

    def _issue(self, options: dict[str, Any]) -> None:
        account = _find_account(options["account"]) if options["account"] else None
        issued = issue_key(
            issuer=OPERATOR,
            now=timezone.now(),
            workspace_id=options["workspace"],
            account_id=account.pk if account else None,
            kind=options["kind"],
            name=options["name"],
            scopes=options["scope"],
            expires_at=options["expires_at"],
        )
        self._show(issued, is_json=options["json"])

    def _list(self, options: Mapping[str, object]) -> None:
        for key in ApiKey.objects.select_related("account").order_by("pk"):
            owner = key.account.handle if key.account else "workspace"
            state = "live" if key.is_live(timezone.now()) else "dead"
            if options["json"]:
                self.write_json(_read_columns(key, state=state))
                continue
            self.stdout.write(f"{key.pk}\t{key.kind}\t{owner}\t{key.prefix}\t{state}\t{key.name}")

    def _rotate(self, options: dict[str, Any]) -> None:
        issued = rotate_key(
            issuer=OPERATOR,
            key_id=_find_key(options["key"]).pk,
            grace_seconds=options["grace"],
        )
        self._show(issued, is_json=options["json"])

    def _revoke(self, options: dict[str, Any]) -> None:
        key = revoke_key(issuer=OPERATOR, key_id=_find_key(options["key"]).pk, now=timezone.now())
        self.stdout.write(f"revoked {key.pk}")

    def _show(self, issued: IssuedKey, *, is_json: bool) -> None:
        if is_json:
            self.write_json({"id": issued.key.pk, "key": issued.secret})
            return
        self.stdout.write(f"id {issued.key.pk}")
        self.stdout.write(f"key {issued.secret}")


def _read_columns(key: ApiKey, *, state: str) -> dict[str, object]:
    return {
        "id": key.pk,
        "kind": key.kind,
        # Null for keys of the workspace.
        "account": key.account.handle if key.account else None,
        "prefix": key.prefix,
        "state": state,
        "name": key.name,
        "scopes": key.scopes,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "last_used_at": key.last_used_at,
        "revoked_at": key.revoked_at,
    }


def _find_account(handle: str) -> Account:
    account = Account.objects.filter(handle=handle).first()
    if account is None:
        raise CommandError(f"The workspace has no account {handle!r}.")
    return account


def _find_key(key_id: int) -> ApiKey:
    key = ApiKey.objects.filter(pk=key_id).first()
    if key is None:
        raise CommandError(f"The workspace has no key {key_id}.")
    return key
