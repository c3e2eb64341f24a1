"""Helpers for commands on one account."""

import csv
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, OutputWrapper
from django.utils.dateparse import parse_datetime

from accounts.queries import account_id_of
from commerce.errors import Refusal


def find_account_id(handle: str) -> int:
    """Find an account by its handle. Raises `CommandError`."""
    account_id = account_id_of(handle)
    if account_id is None:
        raise CommandError(f"Account {handle!r} doesn't exist.")
    return account_id


def parse_moment(text: str) -> datetime:
    """Parse an option that is a point in time. Raises `ArgumentTypeError`, also without an offset from UTC."""
    try:
        found = parse_datetime(text)
    except ValueError:  # well-formed, but no such day or time
        found = None
    if found is None or found.tzinfo is None:
        raise ArgumentTypeError("must be ISO 8601 with an offset, such as 2027-01-31T00:00:00Z")
    return found


@contextmanager
def show_refusals() -> Iterator[None]:
    """Turn what an operation refuses into a `CommandError` that names each field."""
    try:
        yield
    except Refusal as refusal:
        details = [f"{error.field}: {error.detail}" for error in refusal.errors] or [refusal.detail]
        raise CommandError(" ".join(details)) from None


@contextmanager
def csv_writer(path: Path | None, stdout: OutputWrapper) -> Iterator[Any]:
    """Open a CSV writer to a new file that only its owner can read, or to standard output. Raises `CommandError`."""
    if path is None:
        yield csv.writer(stdout, lineterminator="\n")
        return
    # Never an existing file: it could be readable by others, or a link that somebody else has placed there.
    try:
        path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise CommandError(f"{path} can't be created: {error.strerror}.") from None
    with path.open("w", encoding="utf-8", newline="") as file:
        yield csv.writer(file, lineterminator="\n")
