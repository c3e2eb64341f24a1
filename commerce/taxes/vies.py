"""A client of VIES, the European Commission's service for validating VAT numbers."""

from collections.abc import Mapping
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
    return _reply(_post(f"{url.rstrip('/')}/check-vat-number", number))


def _post(url: str, number: VatNumber) -> bytes:
    question = {"countryCode": number.prefix, "vatNumber": number.number}
    try:
        with (
            deadline(TOTAL_TIMEOUT_S),
            _session() as session,
            session.post(
                url,
                json=question,
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                timeout=(CONNECT_TIMEOUT_S, TOTAL_TIMEOUT_S),
                allow_redirects=False,
                stream=True,
            ) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                raise ViesUnavailable(f"VIES answered {response.status_code}.")
            return _body(response)
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise ViesUnavailable(f"VIES gave no usable answer: {error}") from error


def _session() -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter())
    return session


def _body(response: requests.Response) -> bytes:
    """The whole body, up to a limit."""
    body = b""
    while chunk := response.raw.read1(MAX_REPLY_BYTES):
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            raise ViesUnavailable("VIES sent too much.")
    return body


def _reply(body: bytes) -> Reply:
    """Read either form of the answer: `valid`, or `isValid` with a `userError`."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ViesUnavailable("VIES answered in no JSON.") from error
    if not isinstance(document, dict):
        raise ViesUnavailable("VIES answered in an unknown form.")
    flag = document.get("valid", document.get("isValid"))
    if not isinstance(flag, bool) or _is_failure(document):
        raise ViesUnavailable(f"VIES could not say: {body[:200]!r}")
    return Reply(is_valid=flag, name=_name(document.get("name")))


def _is_failure(document: Mapping[str, object]) -> bool:
    """Whether the error concerns the service (`MS_UNAVAILABLE`) or our request (`INVALID_INPUT`), not the number."""
    return (
        document.get("actionSucceed") is False
        or bool(document.get("errorWrappers"))
        or document.get("userError") not in (None, "", "VALID", "INVALID")
    )


def _name(shown: object) -> str | None:
    """The holder's name in one line. Countries that don't disclose it answer with dashes."""
    if not isinstance(shown, str):
        return None
    name = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return name[:MAX_NAME_LENGTH] if name.strip("-") else None
