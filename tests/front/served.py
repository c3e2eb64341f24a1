"""The applications that granian serves in the tests of the front: one that shows what reaches it, and Django."""

import hashlib
import json
import os
import time
from pathlib import Path
from uuid import UUID

from config.wsgi import application

# These imports need Django to be set up.
from accounts.authentication import Grant, _store_in_cache, hash_secret  # isort: skip
from commerce.principal import Principal  # isort: skip
from config.front.application import Front  # isort: skip
from config.front.environ import REFUSAL  # isort: skip

PATIENCE_S = SILENCE_S = 3.0
LARGE = 50_000_000
THREADS, PLACES = 4, 3
GATE = Path(os.environ.get("FRONT_GATE", "gate"))


def show(environ, start_response):
    if environ["QUERY_STRING"] == "wait":
        with GATE.with_name("begun").open("a") as begun:
            begun.write(environ["PATH_INFO"] + "\n")
        while GATE.exists():
            time.sleep(0.01)
    refusal = environ.pop(REFUSAL, None)
    body = environ["wsgi.input"].read()
    shown = {name: value for name, value in environ.items() if isinstance(value, str)}
    shown |= {"body": [len(body), hashlib.sha256(body).hexdigest()], "refusal": refusal and refusal.code}
    status = f"{refusal.status} Refused" if refusal else "200 OK"
    headers = [("Content-Type", "application/json"), *(refusal.headers.items() if refusal else [])]
    start_response(status, headers)
    return [json.dumps(shown).encode()]


class Whole(list):
    """The parts of a response, like Django's."""

    streaming = False
    is_broken = False

    def close(self):
        if self.is_broken:
            raise ValueError("Broken in close")


def fail(environ, start_response):
    place = environ["PATH_INFO"][1:]
    if place == "raise":
        raise ValueError("Broken in raise")
    start_response("200 OK", [])
    if place == "iterate":
        return _broken_parts()
    answer = Whole([b"whole"] if place == "close" else [b"x" * LARGE])
    answer.is_broken = place == "close"
    return answer


def _broken_parts():
    yield b"half"
    raise ValueError("Broken in iterate")


def know(secret, *, kind, account_id):
    """Store a key as if the process had resolved it."""
    principal = Principal(
        key_id=1, kind=kind, workspace_id=UUID(int=1), account_id=account_id, scopes=frozenset()
    )
    _store_in_cache(hash_secret(secret), None, Grant(principal, "active", None, resolved_at=time.monotonic()))


# Two keys of one shop and one of another, for each API.
for surface, prefix in (("storefront", "pk"), ("admin", "sk")):
    for name, account in (("1", 1), ("1b", 1), ("2", 2)):
        know(f"{prefix}_{name}", kind=surface, account_id=account)

showing = Front(show, threads=THREADS, max_waiting=PLACES, max_wait_s=30, patience_s=PATIENCE_S)
django = Front(application, threads=2, patience_s=PATIENCE_S)
failing = Front(fail, threads=1, patience_s=PATIENCE_S, max_silence_s=SILENCE_S)
