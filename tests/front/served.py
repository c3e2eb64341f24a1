"""What the tests of the front have granian serve: an application that shows what reaches it, and Django itself."""

import hashlib
import json
import os
import time
from pathlib import Path

from config.front.application import Front
from config.front.environ import REFUSAL
from config.wsgi import application

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
    """Parts of an answer, as Django gives them."""

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


showing = Front(show, threads=THREADS, max_waiting=PLACES, max_wait_s=30, patience_s=PATIENCE_S)
django = Front(application, threads=2, patience_s=PATIENCE_S)
failing = Front(fail, threads=1, patience_s=PATIENCE_S, max_silence_s=SILENCE_S)
