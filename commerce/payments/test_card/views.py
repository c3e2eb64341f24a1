"""The test card's payment page. Whoever has the token chooses the outcome, as a cardholder would."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.encoding import iri_to_uri
from django.views.decorators.http import require_POST, require_safe

from commerce.backoffice.display import format_money
from commerce.payments.models import FakeCardPayment
from commerce.tenancy.scope import account_scope

from .gateway import Status, find_account_of, record_outcome

# The outcome that each button records. None leaves the payment open.
OUTCOMES: dict[str, Status | None] = {
    "succeed": Status.SUCCEEDED,
    "decline": Status.DECLINED,
    "abandon": Status.ABANDONED,
    "unknown": None,
}
# Nothing is fetched. No form-action, since the form's answer redirects to the shop.
_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@require_safe
def page(request: HttpRequest, token: str) -> HttpResponse:
    payment = _get_payment(token)
    context = {
        "payment": payment,
        "amount": format_money(payment.amount_cents, payment.currency),
        "back_url": _get_back_url(payment),
    }
    answer = render(request, "payments/test_card.html", context)
    answer["Content-Security-Policy"] = _CONTENT_POLICY
    return answer


@require_POST
def choose(request: HttpRequest, token: str, choice: str) -> HttpResponse:
    """Record the outcome and redirect the customer to the shop (303), which then asks this gateway."""
    payment = _get_payment(token, outcome=OUTCOMES[choice])
    # 303 has the browser continue with a GET. Headers are ASCII, so the URL is encoded.
    return HttpResponse(status=303, headers={"Location": iri_to_uri(_get_back_url(payment))})


def _get_payment(token: str, *, outcome: Status | None = None) -> FakeCardPayment:
    account_id = find_account_of(token)
    if account_id is None:
        raise Http404
    with account_scope(account_id):
        if outcome is not None:
            record_outcome(token=token, status=outcome)
        return FakeCardPayment.objects.get(token=token)


def _get_back_url(payment: FakeCardPayment) -> str:
    """The URL that the shop gave for the customer's return when it started the payment."""
    return payment.cancel_url if payment.status == Status.ABANDONED else payment.return_url
