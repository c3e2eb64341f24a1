"""Every command's help has examples that it accepts, and the documentation shows no command that doesn't exist."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command, get_commands, load_command_class

from commerce.commands import OperatorCommand
from commerce.tenancy.scope import workspace_scope
from tests.factories import make_dispatch

# Django's own, with another database.
WRAPPED = {"migrate"}
DOCUMENTED = re.compile(r"^.*?\bpython manage\.py (.+)$", re.MULTILINE)
# Of Django itself, as far as the documents use them.
OF_DJANGO = {"check", "collectstatic", "migrate", "spectacular", "makemigrations"}


def own_commands() -> dict[str, OperatorCommand]:
    own = {
        config.name
        for config in apps.get_app_configs()
        if Path(config.path).is_relative_to(settings.BASE_DIR)
    }
    own = {name for name in own if ".venv" not in apps.get_app_config(name.rpartition(".")[2]).path}
    return {
        name: load_command_class(app, name)
        for name, app in get_commands().items()
        if app in own and name not in WRAPPED
    }


def parse(line: str) -> None:
    """Parse a command line as the command does. Raises `CommandError`."""
    name, *arguments = shlex.split(line.partition(" > ")[0])
    load_command_class(get_commands()[name], name).create_parser("manage.py", name).parse_args(arguments)


def test_commands_are_those_of_operators():
    assert sorted(own_commands()) == [
        "accounts", "bootstrap", "error_codes", "export_discount_redemptions", "export_orders",
        "export_voucher_redemptions", "import_pickup_points", "import_shop", "issue_vouchers", "keys", "messages", "outbox",
        "reconcile", "seed_demo", "staff", "suspend_account",
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(own_commands()))
def test_help_ends_with_examples_that_the_command_accepts(name, capsys):
    command = own_commands()[name]

    for line in command.examples:
        assert line.split()[0] == name
        parse(line)
    with pytest.raises(SystemExit):
        command.create_parser("manage.py", name).parse_args(["--help"])
    shown = capsys.readouterr().out
    for line, meaning in command.examples.items():
        assert f"  # {meaning}\n  python manage.py {line}\n" in shown
    assert "\n  2    wrong arguments\n" in shown


@pytest.mark.parametrize("name", ["README.md", "docs/operations.md"])
def test_commands_in_the_documents_are_accepted(name):
    text = (
        (settings.BASE_DIR / name).read_text().replace("WORKSPACE_ID", "6b8f6a0e-2f0c-4b54-9d0b-0d5f5f1c9a11")
    )
    lines = [
        line.partition("`")[0].removesuffix(" --help")
        for line in DOCUMENTED.findall(text.replace("ACCOUNT_ID", "17"))
    ]

    assert name == "README.md" or len(lines) > 20
    for line in lines:
        if line.split()[0] not in OF_DJANGO:
            parse(line)


def test_lists_for_scripts_are_json(shop, capsys):
    dispatch = make_dispatch(shop, task_name="send_email", status="dead")

    def run(*arguments):
        call_command(*map(str, arguments), "--json")
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    counted = run("outbox", "status", "--account", shop.id)
    [listed] = run("outbox", "list", shop.id, "--status", "dead")
    keys = run("keys", shop.workspace_id, "list")

    assert [(row["account_id"], row["task"], row["dispatches"]) for row in counted] == [
        (str(shop.id), "send_email", 1)
    ]
    assert (listed["id"], listed["task"], listed["status"]) == (str(dispatch.pk), "send_email", "dead")
    assert "payload" not in listed
    assert run("outbox", "list", shop.id, "--status", "pending") == []
    assert [(key["kind"], key["account"], key["state"]) for key in keys] == [
        ("workspace", None, "live"),
        ("workspace", None, "live"),
        ("admin", shop.handle, "live"),
        ("storefront", shop.handle, "live"),
    ]
    assert {"secret_hash", "key"}.isdisjoint(keys[0])


def test_new_secrets_for_scripts_are_json(db, capsys):
    call_command("bootstrap", "Tea Traders", "--json")
    made = json.loads(capsys.readouterr().out)
    call_command("keys", made["workspace_id"], "issue", "workspace", "App", "--json")
    issued = json.loads(capsys.readouterr().out)

    with workspace_scope(made["workspace_id"]):
        assert set(issued) == {"id", "key"}
    assert made["key"] != issued["key"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["reconcile", "no-such-shop"], 1), (["reconcile", "--no-such-option"], 2), (["--help"], 0)],
)
def test_exit_status_tells_the_outcome(arguments, status):
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=settings.BASE_DIR, capture_output=True, check=False
    )

    assert done.returncode == status, done.stderr
