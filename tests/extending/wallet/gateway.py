from typing import Any

import requests
from django.conf import settings

from commerce.payments.gateway import Gateway, GatewayRefused, OutcomeUnknown, Payment, Report, State

_STATES = {"open": State.OPEN, "approved": State.APPROVED, "captured": State.SUCCEEDED, "void": State.FAILED}


class Wallet(Gateway):
    def __init__(self, *, api_key: str) -> None:
        self._api_key = api_key

    def start(self, payment: Payment) -> Report:
        return self._call("payments", key=payment.key, amount=payment.amount_cents)

    def report(self, payment: Payment) -> Report:
        return self._call(f"payments/{payment.reference}")

    def capture(self, payment: Payment) -> Report:
        return self._call(f"payments/{payment.reference}/capture")

    def cancel(self, payment: Payment) -> Report:
        return self._call(f"payments/{payment.reference}/void")

    def refund(self, payment: Payment) -> str:
        self._call(f"payments/{payment.reference}/refund")
        return f"refund-{payment.reference}"

    def _call(self, path: str, **document: Any) -> Report:
        try:
            response = requests.post(
                f"{settings.WALLET_URL}/{path}", json=document, headers={"X-Key": self._api_key}, timeout=10
            )
            answer = response.json()
        except requests.RequestException as error:
            raise OutcomeUnknown(str(error)) from error
        if response.status_code >= 400:
            raise GatewayRefused(answer["reason"])
        state = _STATES[answer["state"]]
        return Report(
            state=state,
            reference=answer["id"],
            redirect_url=answer["url"],
            failure_code="payment_abandoned" if state is State.FAILED else None,
        )
