"""A client of VIES, the European Commission's service for validating VAT numbers."""

from dataclasses import dataclass
from http import HTTPStatus

import orjson
import requests
import urllib3

from commerce.outside.adapters import BoundedAdapter
from commerce.outside.deadline import deadline

from .vat import VatNumber

CONNECT_TIMEOUT_S = 2
# For a whole call, including connecting and reading.
TOTAL_TIMEOUT_S = 5
MAX_REPLY_BYTES = 64 * 1024
MAX_NAME_LENGTH = 200


class ViesUnavailable(Exception):
    """VIES gave no answer, which says nothing about the number. A later call may get one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """VIES's answer. `name` is the holder's, if the country discloses it."""

    is_valid: bool
    name: str | None


def check(number: VatNumber, *, url: str) -> Reply:
    """Ask whether a number is valid. `url` is the base URL of the REST API. Raises `ViesUnavailable`."""
    body = _post(f"{url.rstrip('/')}/check-vat-number", number)
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ViesUnavailable("VIES's answer isn't JSON.") from error
    if not isinstance(document, dict):
        raise ViesUnavailable("VIES answered in an unknown form.")
    # The service has two forms of an answer: `valid`, or `isValid` with a `userError`.
    flag = document.get("valid", document.get("isValid"))
    # A failure may come with a flag. It is about the service (`MS_UNAVAILABLE`) or our request (`INVALID_INPUT`), and
    # so says nothing about the number.
    is_failure = (
        document.get("actionSucceed") is False
        or bool(document.get("errorWrappers"))
        or document.get("userError") not in (None, "", "VALID", "INVALID")
    )
    if not isinstance(flag, bool) or is_failure:
        raise ViesUnavailable(f"VIES could not validate the number: {body[:200]!r}")
    return Reply(is_valid=flag, name=_read_name(document.get("name")))


def _post(url: str, number: VatNumber) -> bytes:
    question = {"countryCode": number.prefix, "vatNumber": number.number}
    try:
        with (
            deadline(TOTAL_TIMEOUT_S),
            _make_session() as session,
            session.post(
                url,
                json=question,
                # The body is read as it arrives, so it must not be compressed.
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S),
                allow_redirects=False,
                stream=True,
            ) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                raise ViesUnavailable(f"VIES answered {response.status_code}.")
            return _read_body(response)
    # While the body is read, `requests` no longer translates the errors of urllib3 and of the socket.
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise ViesUnavailable(f"VIES gave no usable answer: {error}") from error


def _make_session() -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter())
    return session


def _read_body(response: requests.Response) -> bytes:
    """The whole body, up to a limit."""
    body = b""
    while chunk := response.raw.read1(MAX_REPLY_BYTES):
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            raise ViesUnavailable("VIES sent too much.")
    return body


def _read_name(shown: object) -> str | None:
    """The holder's name in one line. Countries that don't disclose it answer with dashes."""
    if not isinstance(shown, str):
        return None
    name = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return name[:MAX_NAME_LENGTH] if name.strip("-") else None
