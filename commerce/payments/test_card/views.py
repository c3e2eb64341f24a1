"""The test card's page. Whoever knows its token may choose how the payment ends, as the holder of a card would."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.encoding import iri_to_uri
from django.views.decorators.http import require_POST, require_safe

from commerce.backoffice.display import money
from commerce.payments.models import FakeCardPayment
from commerce.tenancy.scope import account_scope

from .gateway import Status, account_of, record_outcome

# What each button records; None leaves the shop in the dark.
OUTCOMES: dict[str, Status | None] = {
    "succeed": Status.SUCCEEDED,
    "decline": Status.DECLINED,
    "abandon": Status.ABANDONED,
    "unknown": None,
}
# Nothing is fetched. Where forms may lead is not said here, since their answer leads to the shop.
_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@require_safe
def page(request: HttpRequest, token: str) -> HttpResponse:
    payment = _payment(token)
    context = {
        "payment": payment,
        "amount": money(payment.amount_cents, payment.currency),
        "back_url": _back_url(payment),
    }
    answer = render(request, "payments/test_card.html", context)
    answer["Content-Security-Policy"] = _CONTENT_POLICY
    return answer


@require_POST
def choose(request: HttpRequest, token: str, choice: str) -> HttpResponse:
    """Record the outcome and send the customer back to the shop (303), which asks this gateway for it."""
    payment = _payment(token, outcome=OUTCOMES[choice])
    return HttpResponse(status=303, headers={"Location": iri_to_uri(_back_url(payment))})


def _payment(token: str, *, outcome: Status | None = None) -> FakeCardPayment:
    account_id = account_of(token)
    if account_id is None:
        raise Http404
    with account_scope(account_id):
        if outcome is not None:
            record_outcome(token=token, status=outcome)
        return FakeCardPayment.objects.get(token=token)


def _back_url(payment: FakeCardPayment) -> str:
    """Where the shop said, when the payment was started, that its customer is to come back to."""
    return payment.cancel_url if payment.status == Status.ABANDONED else payment.return_url
