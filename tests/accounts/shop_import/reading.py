"""Reads exports from text, and finds the sample files of the guides."""

from collections.abc import Callable, Iterator
from datetime import date
from io import BytesIO
from pathlib import Path

from django.conf import settings

from accounts.shop_import.drafts import Parsed, Settings
from accounts.shop_import.files import Table, read_table

SAMPLES: Path = settings.BASE_DIR / "docs" / "moving"
EUR = Settings(currency_digits=2, today=date(2026, 11, 23))


def read(text: str | bytes) -> Table:
    return read_table(BytesIO(text if isinstance(text, bytes) else text.encode()))


def parse_sample(name: str, parse: Callable[[Table, Settings], Iterator[Parsed]]) -> list[Parsed]:
    return list(parse(read((SAMPLES / name).read_bytes()), EUR))
