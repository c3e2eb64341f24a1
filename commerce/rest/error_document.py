"""Writes the document of error codes."""

from collections import defaultdict
from http import HTTPStatus

from commerce.errors import all_refusals

_HEAD = """\
# Error codes

Every error is a problem document (RFC 9457, `application/problem+json`): `type`, `title`, `status`, `detail`,
`code`, `request_id`, for field errors `errors: [{field, code, detail}]`, and members of its own such as
`current_version`. Clients should rely on `code`: it is stable, and one code has one status. A refused request has
changed nothing; only `payment_gateway_failed` tells the state of the checkout in `phase`.

| Status | Code | Title |
|---|---|---|
"""


def make_error_document() -> str:
    """Make the document of error codes, ordered by status and code."""
    # Refusals of several apps may share a status and a code.
    titles: dict[tuple[int, str], set[str]] = defaultdict(set)
    titles[HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"].add("Internal error")
    # `RestConfig.ready` has loaded those of all apps.
    for refusal in all_refusals():
        titles[refusal.status, refusal.code].add(refusal.title)
    rows = [
        f"| {status:d} | `{code}` | {'; '.join(sorted(titles[status, code]))} |"
        for status, code in sorted(titles)
    ]
    return _HEAD + "\n".join(rows) + "\n"
