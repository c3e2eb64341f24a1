"""The test card: a gateway that moves no money, for trying out a shop.

It stores its payments in transactions of its own, as an outside service would. The outcome is chosen on its page.
"""

from django.conf import settings
from django.db import connection

from commerce.payments.gateway import Gateway, GatewayRefused, Payment, Report, State
from commerce.payments.models import FakeCardPayment
from commerce.tenancy.scope import account_scope
from commerce.tokens import generate_token

Status = FakeCardPayment.Status

_REPORTS = {
    Status.OPEN: (State.OPEN, None),
    Status.SUCCEEDED: (State.SUCCEEDED, None),
    Status.REFUNDED: (State.SUCCEEDED, None),
    Status.DECLINED: (State.FAILED, "card_declined"),
    Status.ABANDONED: (State.FAILED, "payment_abandoned"),
}


class FakeCard(Gateway):
    is_outside = False

    def start(self, payment: Payment) -> Report:
        with account_scope(payment.account_id):
            new = FakeCardPayment(
                token=generate_token(),
                key=payment.key,
                amount_cents=payment.amount_cents,
                currency=payment.currency,
                return_url=payment.return_url,
                cancel_url=payment.cancel_url,
            )
            # Repeated with the same key, it finds the first payment, as a gateway would.
            FakeCardPayment.objects.bulk_create([new], ignore_conflicts=True)
            return _make_report(FakeCardPayment.objects.get(key=payment.key))

    def report(self, payment: Payment) -> Report:
        with account_scope(payment.account_id):
            return _make_report(_get_payment(payment))

    def cancel(self, payment: Payment) -> Report:
        with account_scope(payment.account_id):
            record_outcome(token=str(payment.reference), status=Status.ABANDONED)
            return _make_report(_get_payment(payment))

    def refund(self, payment: Payment) -> str:
        with account_scope(payment.account_id):
            known = _get_payment(payment)
            FakeCardPayment.objects.filter(pk=known.pk, status=Status.SUCCEEDED).update(
                status=Status.REFUNDED
            )
        return f"refund-{known.token}"


def find_account_of(token: str) -> int | None:
    """Find the account whose payment has this token. The page's URL names no account, and no scope is open."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT test_card_account(%s)", [token])
        return cursor.fetchone()[0]


def record_outcome(*, token: str, status: Status) -> None:
    """Record the outcome, unless there is one already: the first one counts."""
    FakeCardPayment.objects.filter(token=token, status=Status.OPEN).update(status=status)


def _get_payment(payment: Payment) -> FakeCardPayment:
    known = FakeCardPayment.objects.filter(token=payment.reference).first()
    if known is None:
        raise GatewayRefused(f"There is no payment {payment.reference!r}.")
    return known


def _make_report(known: FakeCardPayment) -> Report:
    state, failure_code = _REPORTS[Status(known.status)]
    return Report(
        state=state,
        reference=known.token,
        redirect_url=f"{settings.BASE_URL}/test-card/{known.token}",
        failure_code=failure_code,
    )
