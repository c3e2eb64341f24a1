"""The pictures of the back office: each is taken by the test of a day's work, small, and shown in the documentation."""

import re
from pathlib import Path

from django.conf import settings

from tests.backoffice.day import test_days_work
from tests.backoffice.day.camera import FOLDER, MAX_BYTES

_SHOWN = re.compile(r"\]\((backoffice/[^)]+)\)")
_TAKEN = re.compile(r"""photograph\("([\w-]+)\"""")


def test_pictures_are_those_that_the_test_takes():
    taken = _TAKEN.findall(Path(test_days_work.__file__).read_text())

    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{name}.jpg" for name in taken)
    assert len(taken) > 10


def test_every_picture_is_small_and_shown():
    pictures = {f"backoffice/{path.name}": path.stat().st_size for path in FOLDER.iterdir()}
    shown = [
        name
        for document in ("backoffice.md", "staff.md")
        for name in _SHOWN.findall((settings.BASE_DIR / "docs" / document).read_text())
    ]

    assert sorted(shown) == sorted(pictures)
    assert {name: size for name, size in pictures.items() if size > MAX_BYTES} == {}
