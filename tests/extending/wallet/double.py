"""The wallet's service, on loopback."""

from itertools import count
from typing import Any

import orjson
from werkzeug import Request, Response


class WalletDouble:
    def __init__(self) -> None:
        self.payments: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self._numbers = count(1)

    @property
    def payment(self) -> dict[str, Any]:
        (payment,) = self.payments.values()
        return payment

    def __call__(self, request: Request) -> Response:
        _, name, *rest = request.path.strip("/").split("/")
        self.calls.append("/".join([name, *rest[1:]]))
        if not rest:
            payment = self._open(request.get_json())
        else:
            payment = self.payments[rest[0]]
            self._act(payment, rest[1] if len(rest) > 1 else "read")
        return Response(orjson.dumps(payment), content_type="application/json")

    def _open(self, wanted: dict[str, Any]) -> dict[str, Any]:
        for payment in self.payments.values():
            if payment["key"] == wanted["key"]:
                return payment
        reference = f"w{next(self._numbers)}"
        new = {"id": reference, "state": "open", "url": f"https://wallet.example/{reference}", **wanted}
        self.payments[reference] = new
        return new

    def _act(self, payment: dict[str, Any], act: str) -> None:
        before = payment["state"]
        if act == "capture":
            assert before == "approved"
            payment["state"] = "captured"
        elif act == "void" and before in {"open", "approved"}:
            payment["state"] = "void"
        elif act == "refund":
            payment["is_refunded"] = True
