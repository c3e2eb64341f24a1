"""Constraints of payment attempts and of the test card's tables."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from checkouts.models import CheckoutPaymentAttempt
from commerce.payments.models import FakeCardPayment


def refuses(constraint, work):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        work()


def test_attempt_keeps_its_invariants(till, stripe):
    payment = till("stripe")
    payment.start()
    now = timezone.now()

    with payment.shop.scope():
        attempts = CheckoutPaymentAttempt.objects.all()
        second = attempts.get()
        second.pk = None
        refuses("checkout_payment_attempts_one_open", lambda: second.save(force_insert=True))
        refuses("checkout_payment_attempts_paid_late", lambda: attempts.update(paid_late_at=now))
        refuses("checkout_payment_attempts_refunded", lambda: attempts.update(refunded_at=now))


def test_test_card_payment_keeps_its_invariants(till):
    payment = till("test_card")
    payment.start()

    with payment.shop.scope():
        payments = FakeCardPayment.objects.all()
        second = payments.get()
        second.pk = None
        refuses("test_card_payments_key", lambda: second.save(force_insert=True))
        refuses("test_card_payments_amount", lambda: payments.update(amount_cents=0))
