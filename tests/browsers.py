"""A real browser for tests, where there is one."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Playwright

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def launch(playwright: Playwright) -> Browser:
    """Launch Playwright's Chromium or an installed one; skip the test if there is none."""
    own = playwright.chromium.executable_path
    found = own if Path(own).exists() else next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("No Chromium or Chrome on the PATH, and `playwright install chromium` was not run.")
    try:
        return playwright.chromium.launch(executable_path=found)
    except Error as error:
        pytest.skip(f"{found} does not start: {error.message.splitlines()[0]}")
