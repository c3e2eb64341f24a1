"""Takes the pictures of the documentation while a test works in the back office, so that they show what is there."""

import os
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page

# Where the documentation expects them. Set PICTURES=1 to take them anew (make pictures).
FOLDER: Path = settings.BASE_DIR / "docs" / "backoffice"
MAX_BYTES = 80_000
WIDE = {"width": 1280, "height": 800}
TALL = {"width": 1280, "height": 1120}
NARROW = {"width": 400, "height": 800}


class Camera:
    """Takes pictures if it was asked to."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.is_on = environ.get("PICTURES") == "1"

    def take(self, page: Page, name: str, *, is_narrow: bool = False, is_tall: bool = False) -> None:
        """Take a picture of what the page shows, as a small file."""
        if not self.is_on:
            return
        page.set_viewport_size(NARROW if is_narrow else TALL if is_tall else WIDE)
        # A focused field blinks, and the mouse leaves marks where it is.
        page.mouse.move(0, 0)
        page.evaluate("document.fonts.ready")
        for quality in (80, 70, 60, 50, 40):
            picture = page.screenshot(
                type="jpeg", quality=quality, animations="disabled", caret="hide", scale="css"
            )
            if len(picture) <= MAX_BYTES:
                break
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.jpg").write_bytes(picture)
        page.set_viewport_size(WIDE)
