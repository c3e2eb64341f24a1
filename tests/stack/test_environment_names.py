"""The names of the environment: what the code reads, what is documented, and what compose.yaml sets."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from django.conf import settings

from commerce.configuration.registry import known_settings
from config.stack.roles import as_script

READ = re.compile(r'\benv\.\w+\(\s*"(\w+)"|_database\("(\w+)"')
DOCUMENTED = re.compile(r"^\| `([A-Z_]+)` \|", re.MULTILINE)
REQUIRED = re.compile(r"\$\{(\w+):\?\}")


def test_every_name_that_is_read_is_documented():
    document = (settings.BASE_DIR / "docs" / "operations.md").read_text()

    assert set(DOCUMENTED.findall(document)) == names_read()


def test_compose_sets_only_names_that_are_read():
    set_names = {name for service in own_services() for name in service.get("environment", {})}

    assert set_names - names_read() == set()


def test_compose_requires_only_what_its_documentation_shows():
    document = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    required = set(REQUIRED.findall((settings.BASE_DIR / "compose.yaml").read_text()))

    assert {name for name in required if f"\n{name}=" not in document} == set()


def test_nothing_that_serves_gets_the_owners_password():
    holders = [
        name
        for name, service in compose()["services"].items()
        if "OWNER_PASSWORD" in str(service.get("environment", {}))
    ]

    assert holders == ["migrate", "postgres"]


def test_script_that_compose_mounts_is_that_of_the_roles():
    script = (settings.BASE_DIR / "config" / "stack" / "roles.sql").read_text()

    assert script.partition("\\getenv app_password APP_PASSWORD\n")[2] == f"{as_script()}\n"


def names_read() -> set[str]:
    sources = (settings.BASE_DIR / "config" / "settings").glob("*.py")
    in_settings = {
        name for source in sources for groups in READ.findall(source.read_text()) for name in groups if name
    }
    return in_settings | {setting.variable for setting in known_settings().values()}


def own_services() -> Iterator[dict[str, Any]]:
    return (service for service in compose()["services"].values() if service["image"] == "commerce")


def compose() -> dict[str, Any]:
    return yaml.safe_load((settings.BASE_DIR / "compose.yaml").read_text())
