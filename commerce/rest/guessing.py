"""Limits wrong codes of discounts and gift cards, which are short enough to be guessed."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpResponse

from commerce.attempts import Counter, Limit, begin_attempt, digest, undo_attempt
from commerce.client_address import client_address
from commerce.errors import RateLimited
from commerce.principal import Principal

from .requests import ApiRequest
from .views import SurfaceViewSet

WINDOW_S = 10 * 60


def limit_guesses(
    request: ApiRequest,
    view_class: type[SurfaceViewSet],
    action: str,
    respond: Callable[[], HttpResponse],
    *,
    token: str | None,
) -> HttpResponse:
    """Run the action. If it takes a code and the code was wrong, that counts against the limits.

    Raises `RateLimited` after too many wrong codes, even for a correct one.
    """
    wrong = view_class.guessed_codes.get(action)
    if wrong is None:
        return respond()
    # Counted before it runs: parallel guesses could otherwise all run before the first is counted.
    counters = _list_counters(request.principal, token=token, address=client_address(request))
    wait_s = begin_attempt(counters)
    if wait_s:
        raise RateLimited(wait_s)
    is_wrong = False
    try:
        response = respond()
        is_wrong = getattr(response, "refusal_code", None) == wrong
    finally:
        # Also after an exception, which says nothing about the code.
        if not is_wrong:
            undo_attempt(counters)
    return response


def _list_counters(principal: Principal, *, token: str | None, address: str) -> list[Counter]:
    # A secret key belongs to a server, which sends the codes of many people from one address.
    if principal.kind != "storefront":
        return [Counter(f"wrong-codes:key:{principal.key_id}", Limit(settings.WRONG_CODES_PER_KEY, WINDOW_S))]
    shop = f"wrong-codes:{principal.account_id}"
    return [
        Counter(f"{shop}:checkout:{token}", Limit(settings.WRONG_CODES_PER_CHECKOUT, WINDOW_S)),
        Counter(f"{shop}:address:{digest(address)}", Limit(settings.WRONG_CODES_PER_ADDRESS, WINDOW_S)),
    ]
