"""Hostile requests to a real server: it answers each as documented, without a crash, and reveals nobody else's data.

A hundred thousand, by hand: FUZZ_REQUESTS=100000 pytest --timeout=0 -n 0 -s tests/fuzz
With FUZZ_SEED, other ones.
"""

import os
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import models

from commerce.tenancy.models import AccountOwned
from config.stack.data import DataDirectory
from config.stack.ports import find_free_port
from config.stack.programs import Programs
from tests.emails.conftest import Renderer, renderer  # noqa: F401  a fixture
from tests.fuzz.hostile import Client, Hostile
from tests.fuzz.wire import Answer, Request, Wire
from tests.rest.routes import World
from tests.shops import make_shop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

REQUESTS = int(os.environ.get("FUZZ_REQUESTS", "1000"))
SEED = os.environ.get("FUZZ_SEED", "fuzz")
THREADS = 4
DOCUMENTED = {
    (int(status), code)
    for status, code in re.findall(r"\| (\d{3}) \| `(\w+)` \|", Path("docs/errors.md").read_text())
}
MEMBERS = {"type", "title", "status", "detail", "code", "request_id"}
NAMES = {"title", "name", "first_name", "last_name", "customer_note"}


def world_of(secret: str, **shop) -> World:
    """Build a shop with a row of every model, whose texts contain the shop's marker."""
    world = World.of(make_shop(**shop))
    with world.shop.scope():
        for model, row in world.rows.items():
            texts = {
                field.name: secret[: field.max_length or len(secret)]
                for field in model._meta.concrete_fields
                if field.name in NAMES and isinstance(field, models.CharField | models.TextField)
            }
            if texts and issubclass(model, AccountOwned):
                model._base_manager.filter(pk=row.pk).update(**texts)
    return world


@pytest.fixture
def port(tmp_path, renderer) -> int:  # noqa: F811  the fixture
    """The port at which the product's web servers serve the test's database."""
    number = find_free_port()
    data = DataDirectory(tmp_path)
    for folder in (data.logs, data.pids):
        folder.mkdir()
    environment = dict(os.environ) | {"RENDERER_URL": renderer.url, "COMMERCE_PAYMENTS_TEST_CARD": "true"}
    servers = Programs(data=data, environment=environment, web_port=number).web()
    for web in servers:
        web.start()
    try:
        for web in servers:
            web.wait_until_ready(seconds=60)
        yield number
    finally:
        for web in servers:
            web.stop()


def clients_of(worlds: list[World]) -> list[Client]:
    """Return clients with keys of every kind, and with invalid ones."""
    found = []
    for world in worlds:
        headers = [world.shop.admin.headers, world.shop.workspace.headers, world.shop.storefront.headers]
        for number, pairs in enumerate(headers):
            pair = tuple((name.encode(), value.encode()) for name, value in pairs.items())
            found.append(Client(pair, world, "storefront" if number == 2 else "admin"))
    none = [
        (),
        ((b"Authorization", b"Bearer sk_" + b"x" * 32),),
        ((b"Authorization", b"Bearer \xff"),),
        ((b"Authorization", b"Basic " + b"x" * 5_000),),
        ((b"X-Storefront-Key", b"\xff"),),
        ((b"X-Storefront-Key", b"pk_" + b"0" * 32),),
    ]
    return [*found, *(Client(headers, None, "") for headers in none)]


def wrong_about(client: Client, request: Request, answer: Answer, secrets: dict[int, bytes]) -> str | None:
    """Say in a few words what is wrong with a response."""
    if answer.status is None:
        return None if request.is_malformed else "no answer"
    own = client.world.shop.id if client.world is not None else None
    if any(secret in answer.body for account_id, secret in secrets.items() if account_id != own):
        return "names what belongs to another shop"
    if answer.status < 400 or request.method == b"HEAD":
        return "crash" if answer.status >= 500 else None
    if not request.target.startswith((b"/admin/2", b"/storefront/", b"/webhooks/")):
        return "crash" if answer.status >= 500 else None
    if request.is_malformed and answer.status in (400, 408, 413, 414, 431, 501, 505):
        return None
    return _wrong_about_problem(answer)


def _wrong_about_problem(answer: Answer) -> str | None:
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return f"{answer.status} without a problem document"
    try:
        document = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return "a problem document that is no JSON"
    if not document.keys() >= MEMBERS or document["status"] != answer.status:
        return "a problem document that is not whole"
    if (answer.status, document["code"]) not in DOCUMENTED:
        return f"{answer.status} {document['code']} is not documented"
    return "crash" if answer.status >= 500 and answer.status not in (502, 503) else None


def test_server_answers_whatever_it_is_sent(port):
    worlds = [world_of("Secret of the first shop"), world_of("Secret of the second")]
    secrets = {
        world.shop.id: text
        for world, text in zip(worlds, (b"Secret of the f", b"Secret of the s"), strict=True)
    }
    hostile = Hostile(worlds, clients_of(worlds))

    def send(numbers: range) -> tuple[list[str], Counter[Any]]:
        wire, wrong, statuses = Wire(port), [], Counter()
        for number in numbers:
            client, request = hostile.request(f"{SEED}-{number}")
            answer = wire.send(request)
            statuses[answer.status] += 1
            if what := wrong_about(client, request, answer, secrets):
                sent, got = str(request), f"{answer.status} {answer.headers} {answer.body[:300]!r}"
                wrong.append(f"{SEED}-{number}: {what}: {sent[:1500]} ... {sent[-1000:]} {got}")
        wire.close()
        statuses["dropped"] = wire.dropped
        return wrong, statuses

    parts = [range(start, REQUESTS, THREADS) for start in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(send, parts))

    statuses = sum((counted for _, counted in results), Counter())
    sys.stdout.write(f"{REQUESTS} requests: {dict(statuses)}\n")
    wrong = [line for lines, _ in results for line in lines]
    assert not wrong, "\n".join(wrong)
    assert statuses["dropped"] == 0
    # The shops still exist, so the requests had something to hit.
    for world in worlds:
        assert world.shop.admin.get("orders.json").status_code == 200
        assert world.shop.storefront.get("products.json").status_code == 200
