from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from accounts.management.terminal import find_account_id, show_refusals
from accounts.models import StaffMembership, User
from accounts.operations import UNLIMITED, add_member, change_role, remove_member
from accounts.operations.two_factor import reset_by_operator
from accounts.queries import current_account
from accounts.roles import BUILT_IN_ROLES
from commerce.commands import OperatorCommand, add_json_option
from commerce.tenancy.scope import account_scope, current_account_id, list_account_ids


class Command(OperatorCommand):
    help = "Lists, adds and removes who may enter the back office of accounts."
    examples = {
        "staff list": "list the staff of all accounts, and the operators, who may enter all of them",
        "staff list my-shop --json": "list the staff of one account for a script",
        "staff add my-shop ada --role owner": "make the user ada an owner; repeated, nothing changes",
        "staff remove my-shop ada": "from ada's next request on; repeated, nothing changes",
        "staff reset-second-step ada": "ada has lost the device: log-in needs the password alone until a new one is set up",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        listing = actions.add_parser("list", help="list staff: account, username, role, state, last log-in")
        listing.set_defaults(run=self._list)
        listing.add_argument("accounts", nargs="*", metavar="HANDLE", help="only of these (default: all)")
        add_json_option(listing)
        add = actions.add_parser("add", help="add a user to the staff, or change the role")
        add.set_defaults(run=self._add)
        add.add_argument("account", metavar="HANDLE")
        add.add_argument("username", help="an existing user")
        add.add_argument(
            "--role",
            required=True,
            help=f"{', '.join(BUILT_IN_ROLES)}, or the id of one of the shop's own roles",
        )
        remove = actions.add_parser("remove", help="remove a user from the staff")
        remove.set_defaults(run=self._remove)
        remove.add_argument("account", metavar="HANDLE")
        remove.add_argument("username")

        reset = actions.add_parser(
            "reset-second-step", help="remove a user's apps, passkeys and recovery codes"
        )
        reset.set_defaults(run=self._reset)
        reset.add_argument("username")

    def handle(self, *args: object, **options: Any) -> None:
        options["run"](options)

    def _list(self, options: dict[str, Any]) -> None:
        for row in _read_rows(options["accounts"]):
            if options["json"]:
                self.write_json(row)
            else:
                self.stdout.write("\t".join("-" if value is None else str(value) for value in row.values()))

    def _add(self, options: dict[str, Any]) -> None:
        user, role = _find_user(options["username"]), options["role"]
        with show_refusals(), account_scope(find_account_id(options["account"])):
            membership = _find_membership(user)
            before = membership and membership.role
            if membership is None:
                add_member(account_id=current_account_id(), user_id=user.pk, role=role)
            elif before != role:
                change_role(grantor=UNLIMITED, membership_id=membership.pk, role=role)
        self._tell(options, "unchanged" if before == role else role)

    def _remove(self, options: dict[str, Any]) -> None:
        user = _find_user(options["username"])
        with show_refusals(), account_scope(find_account_id(options["account"])):
            membership = _find_membership(user)
            if membership is not None:
                remove_member(grantor=UNLIMITED, membership_id=membership.pk)
        self._tell(options, "unchanged" if membership is None else "removed")

    def _reset(self, options: dict[str, Any]) -> None:
        had = reset_by_operator(user=_find_user(options["username"]))
        self.stdout.write(f"{options['username']}: {'reset' if had else 'unchanged'}")

    def _tell(self, options: dict[str, Any], outcome: str) -> None:
        self.stdout.write(f"{options['account']}: {options['username']} {outcome}")


def _read_rows(handles: list[str]) -> Iterator[dict[str, object]]:
    account_ids = [find_account_id(handle) for handle in handles] if handles else list_account_ids()
    for account_id in tqdm(account_ids, unit="account", disable=None, leave=False):
        with account_scope(account_id):
            handle = current_account().handle
            # Without the account, the rows of the person's other accounts could be seen by the policies of users.
            members = StaffMembership.objects.filter(account_id=account_id).select_related("user")
            rows = [
                _read_columns(member.user, account=handle, role=member.role)
                for member in members.order_by("pk")
            ]
        yield from rows
    if not handles:
        for user in User.objects.filter(is_superuser=True).order_by("pk"):
            yield _read_columns(user, account=None, role="operator")


def _read_columns(user: User, *, account: str | None, role: str) -> dict[str, object]:
    return {
        "account": account,
        "username": user.username,
        "role": role,
        "state": "active" if user.is_active else "inactive",
        "last_login": user.last_login,
    }


def _find_user(username: str) -> User:
    user = User.objects.filter(username=User.normalize_username(username)).first()
    if user is None:
        raise CommandError(f"There is no user {username!r}.")
    return user


def _find_membership(user: User) -> StaffMembership | None:
    return StaffMembership.objects.filter(account_id=current_account_id(), user=user).first()
