"""Writes the document of error codes."""

from collections import defaultdict
from http import HTTPStatus

from django.utils.module_loading import autodiscover_modules

from commerce.errors import Refusal, all_refusals

_HEAD = """\
# Error codes

Every error is a problem document (RFC 9457, `application/problem+json`): `type`, `title`, `status`, `detail`,
`code`, `request_id`, for field errors `errors: [{field, code, detail}]`, and members of its own such as
`current_version`. Clients should rely on `code`: it is stable, and one code has one status. A refused request has
changed nothing; only `payment_gateway_failed` tells the state of the checkout in `phase`.

| Status | Code | Title |
|---|---|---|
"""


def refusals() -> list[type[Refusal]]:
    """Every refusal of the installed apps."""
    autodiscover_modules("errors")
    return list(all_refusals())


def error_document() -> str:
    """The document of error codes, ordered by status and code."""
    # Refusals of several apps may share a status and a code.
    titles: dict[tuple[int, str], set[str]] = defaultdict(set)
    titles[HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"].add("Internal error")
    for refusal in refusals():
        titles[refusal.status, refusal.code].add(refusal.title)
    rows = [
        f"| {status:d} | `{code}` | {'; '.join(sorted(titles[status, code]))} |"
        for status, code in sorted(titles)
    ]
    return _HEAD + "\n".join(rows) + "\n"
