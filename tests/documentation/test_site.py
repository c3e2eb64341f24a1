"""The documentation's site: it is whole, its links lead somewhere, and nothing in it comes from another host."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import ConsoleMessage, Request, sync_playwright

from tests.browsers import launch

# What a browser loads by itself; links are followed by people.
LOADED = re.compile(r"""<(?:script|img|source|iframe|link)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)""")
# Styled in capitals.
GROUPS = ["STOREFRONT", "ADMIN", "MESSAGES"]
NOT_PAGES = ("examples/", "site/")


def build(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", *arguments],
        cwd=folder,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("built") / "docs" / "guide"
    done = build(settings.BASE_DIR, "--site-dir", str(place))
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project with a copy of the documents, which tests may change."""
    for entry in settings.BASE_DIR.iterdir():
        if entry.name not in {"docs", ".site"}:
            (tmp_path / entry.name).symlink_to(entry)
    docs = settings.BASE_DIR / "docs"
    shutil.copytree(docs, tmp_path / "docs", ignore=shutil.ignore_patterns("examples", "emails"))
    (tmp_path / "docs" / "emails").symlink_to(docs / "emails")
    return tmp_path


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_every_document_is_a_page(site):
    docs = settings.BASE_DIR / "docs"
    documents = {path.relative_to(docs) for path in docs.rglob("*.md")}

    missing = [
        str(path)
        for path in documents
        if not str(path).startswith(NOT_PAGES) and not (site / path.with_suffix(".html")).exists()
    ]

    assert missing == []
    assert len(documents) > 30


def test_page_loads_only_files_of_the_site(site):
    # The page of errors is for any address, so its own are absolute.
    loaded = [
        (page, address)
        for page in site.rglob("*.html")
        if page.name != "404.html"
        for address in LOADED.findall(page.read_text())
        if not address.startswith(("data:", "#"))
    ]

    assert [address for page, address in loaded if not (page.parent / address).exists()] == []
    assert len(loaded) > 100
    assert "cdn.redoc" not in (site / "assets" / "redoc.standalone.js").read_text()


def test_examples_and_sources_of_the_site_are_not_published(site):
    assert not (site / "examples").exists()
    assert not (site / "site").exists()


def test_copy_is_built(copy, tmp_path):
    done = build(copy, "--site-dir", str(tmp_path / "site"))

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("orders.md", "[x](no-such.md)", "no-such.md"),
        ("orders.md", "[x](pricing.md#no-such)", "pricing.md#no-such"),
        ("orders.md", "[x](../no/such.py)", "../no/such.py"),
        ("unlisted.md", "# Unlisted", "unlisted.md"),
    ],
    ids=["page", "anchor", "code", "navigation"],
)
def test_what_leads_nowhere_fails_the_build(copy, tmp_path, name, text, complaint):
    (copy / "docs" / name).write_text(text)

    done = build(copy, "--site-dir", str(tmp_path / "site"))

    assert done.returncode != 0
    assert complaint in done.stderr


def test_product_serves_the_site(site, settings):
    settings.WHITENOISE_ROOT = site.parent.parent
    client = Client()

    page, moved = client.get("/docs/guide/"), client.get("/docs/guide")

    assert page.status_code == 200
    assert '<h1 id="commerce">' in b"".join(page.streaming_content).decode()
    assert (moved.status_code, moved["Location"]) == (302, "guide/")
    assert client.head("/docs/guide/orders.html").status_code == 200
    assert client.get("/docs/guide/no-such.html").status_code == 404


def test_reference_shows_every_operation_without_an_error(address):
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(message.text)

    def watch(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            problems.append(request.url)

    with sync_playwright() as playwright, launch(playwright) as browser:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.on("console", note)
        page.on("pageerror", lambda error: problems.append(error.message))
        page.on("request", watch)
        page.goto(f"{address}/reference.html#operation/storefront_checkouts_complete")
        heading = page.get_by_role("heading", name="Complete a checkout").first
        heading.wait_for(state="attached")
        page.get_by_role("heading", name="Create a cart in a market").first.wait_for(state="attached")
        menu = page.locator(".menu-content").inner_text()

    assert problems == []
    assert [line for line in menu.splitlines() if line in GROUPS] == GROUPS
    assert {"Carts", "API keys", "Tax rates", "Webhook endpoints", "Events"} <= set(menu.splitlines())
