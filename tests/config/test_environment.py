"""Settings of installations: `.env.example` names exactly what is read, and invalid values are refused at the start."""

import ast
import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

from commerce.configuration.registry import known_settings

_NAME = re.compile(r"^#? ?([A-Z][A-Z_]+)=", re.MULTILINE)


def names_read():
    """Return the names that the settings read from the environment."""
    calls = [
        node
        for source in (settings.BASE_DIR / "config" / "settings").glob("*.py")
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call)
    ]
    return {
        call.args[0].value
        for call in calls
        if call.args and isinstance(call.args[0], ast.Constant) and _reads_the_environment(call.func)
    }


def _reads_the_environment(function):
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "env"
    return isinstance(function, ast.Name) and function.id == "_read_database"


def test_example_names_exactly_what_is_read():
    example = (settings.BASE_DIR / ".env.example").read_text()

    named = _NAME.findall(example)

    assert sorted(named) == sorted(names_read() | {setting.variable for setting in known_settings().values()})


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("SECRET_KEY", None, "Set the SECRET_KEY environment variable"),
        ("DATABASE_URL", None, "Set the DATABASE_URL environment variable"),
        ("DATABASE_URL", "sqlite:///x.db", "DATABASE_URL must be a postgres:// URL"),
        ("REDIS_URL", None, "Set the REDIS_URL environment variable"),
        ("DATABASE_POOL_SIZE", "many", "invalid literal for int()"),
        ("RATE_LIMIT_PER_KEY", "1.5", "invalid literal for int()"),
    ],
)
def test_settings_refuse_nonsense(name, value, complaint):
    environment = os.environ | {name: value or ""}
    if value is None:
        del environment[name]

    done = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        check=False,
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert complaint in done.stderr


def test_secret_may_stand_in_a_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("from-a-file\n")
    environment = {name: value for name, value in os.environ.items() if name != "SECRET_KEY"}

    done = subprocess.run(
        [sys.executable, "-c", "import config.settings; print(config.settings.SECRET_KEY)"],
        check=True,
        env=environment | {"SECRET_KEY_FILE": str(secret)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
    )

    assert done.stdout == "from-a-file\n"
