"""A table is written by the app that owns it; the test run checks this of every statement of the product."""

import re
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

from django.apps import apps

from tests.tenancy.frames import is_of_a_test, own_frames

_WRITE = re.compile(
    r"\b(?:INSERT\s+INTO|DELETE\s+FROM|(?<!FOR )(?<!KEY )(?<!DO )UPDATE)\s+(?:ONLY\s+)?\"?(?P<table>[a-z_]+)\"?"
)

# Generic code, which writes rows for the app that calls it or derives from its classes. It may write its own tables.
_HELPERS = ("commerce.tenancy", "commerce.backoffice", "commerce.loops", "commerce.rest", "config")

# Modules that write tables of other apps, and why.
EXCEPTIONS: dict[tuple[str, str], str] = {}


@lru_cache(maxsize=20_000)
def written_tables(sql: str) -> tuple[str, ...]:
    """The tables that a statement inserts into, updates or deletes from."""
    return tuple(dict.fromkeys(match["table"] for match in _WRITE.finditer(sql)))


def check(sql: str, frame: FrameType) -> Iterator[str]:
    """Name the module that writes a table of another app."""
    for table in written_tables(sql):
        owner = _owners().get(table)
        writer = owner and _find_intruder(frame, owner)
        if writer and (writer, table) not in EXCEPTIONS:
            yield f"{writer} writes {table} of {owner}"


def _find_intruder(frame: FrameType, owner: str) -> str | None:
    """The innermost module that isn't a helper; None if it is the owner's or a test's.

    A helper's method counts as code of the class that it runs for: an app's own page of the back office, for example.
    """
    for own in own_frames(frame):
        if is_of_a_test(own.f_code.co_filename):
            return None
        for module in (own.f_globals["__name__"], type(own.f_locals.get("self")).__module__):
            if _is_part_of(module, owner):
                return None
            if _is_of_an_app(module) and not any(_is_part_of(module, helper) for helper in _HELPERS):
                return module
    return None


def _is_of_an_app(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in _roots()


@lru_cache(maxsize=1)
def _roots() -> frozenset[str]:
    return frozenset(owner.split(".")[0] for owner in _owners().values())


@lru_cache(maxsize=1)
def _owners() -> dict[str, str]:
    """The package of the app that owns each table, without those of Django and of its packages for the second step."""
    owners = {
        model._meta.db_table: model._meta.app_config.name
        for model in apps.get_models(include_auto_created=True)
    }
    return {
        table: owner for table, owner in owners.items() if not owner.startswith(("django.", "django_otp"))
    }


def _is_part_of(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
