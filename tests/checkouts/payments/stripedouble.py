"""A double of Stripe on loopback: it stores sessions, refunds and idempotency keys, and fails on request."""

import socket
import struct
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import orjson
from werkzeug import Request, Response

from commerce.payments.stripe import gateway

# Seconds until a call that is to time out does so. All others have the production time-out.
IMPATIENT_S = 0.3
PATIENT_S = gateway.TOTAL_TIMEOUT_S

Answer = tuple[int, Any]
Parameters = dict[str, str]


class StripeDouble:
    """`fails` holds what happens to the next calls: a status, `timeout`, `reset` or a body that makes no sense.

    With `after=True` the call has done its work before its answer is lost. A call that is to time out has done so,
    and the work of it is done, before the next one is answered.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}
        self.refunds: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.keys: dict[str, tuple[Parameters, Answer]] = {}
        self._failures: list[tuple[Any, bool]] = []
        self._numbers = count(1)
        self._is_answered = threading.Event()
        self._is_answered.set()

    def fail_next(self, how: Any, *, after: bool = False) -> None:
        self._failures.append((how, after))
        if how == "timeout":
            self._is_answered.clear()
        self._set_patience()

    def _set_patience(self) -> None:
        """Shorten the time-out of the call that is to time out, and of no other, however busy the machine is."""
        is_lost = bool(self._failures) and self._failures[0][0] == "timeout"
        gateway.TOTAL_TIMEOUT_S = IMPATIENT_S if is_lost else PATIENT_S
        gateway._make_http_client.clear()

    @property
    def session(self) -> dict[str, Any]:
        """Return the only session, waiting for it: a client may give up a call before the double has handled it."""
        assert self._is_answered.wait(30)
        (session,) = self.sessions.values()
        return session

    def pay(self, **changes: Any) -> None:
        """The customer pays on the page of the only session."""
        paid = {"status": "complete", "payment_status": "paid", "payment_intent": "pi_1", "url": None}
        self.session.update(paid | changes)

    def pay_all(self) -> None:
        """Pay every open session."""
        for name, session in self.sessions.items():
            if session["status"] == "open":
                paid = {"status": "complete", "payment_status": "paid", "url": None}
                session.update(paid | {"payment_intent": f"pi_{name}"})

    def __call__(self, request: Request) -> Response:
        self.calls.append(f"{request.method} {request.path}")
        how, is_after = self._failures.pop(0) if self._failures else (None, False)
        answer = self._once(request) if how is None or is_after else None
        self._set_patience()
        if how == "timeout":
            _wait_for_hanging_up(request)
            self._is_answered.set()
        if how is not None:
            return _fail(request, how)
        assert answer is not None
        return _response(*answer)

    def _once(self, request: Request) -> Answer:
        """Handle a key like Stripe: it stores the first response and refuses other parameters."""
        if not request.headers.get("Authorization", "").removeprefix("Bearer").strip():
            return _error(401, "invalid_request_error")
        key, parameters = request.headers.get("Idempotency-Key"), request.values.to_dict()
        if request.method == "GET" or key is None:
            return self._do(request.method, request.path, parameters)
        if key in self.keys:
            first, answer = self.keys[key]
            return answer if first == parameters else _error(400, "idempotency_error")
        answer = self._do(request.method, request.path, parameters)
        if answer[0] == 200:
            self.keys[key] = (parameters, (200, dict(answer[1])))
        return answer

    def _do(self, method: str, path: str, parameters: Parameters) -> Answer:
        name, _, action = path.removeprefix("/v1/checkout/sessions").strip("/").partition("/")
        routes: dict[tuple[str, bool, str], Callable[[], Answer]] = {
            ("POST", False, ""): lambda: self._create(parameters),
            ("GET", True, ""): lambda: self._found(name),
            ("POST", True, "expire"): lambda: self._expire(name),
        }
        if path == "/v1/refunds":
            return self._refund(parameters) if method == "POST" else self._list_refunds(parameters)
        return routes[method, bool(name), action]()

    def _create(self, parameters: Parameters) -> Answer:
        if not 1_800 <= int(parameters["expires_at"]) - time.time() <= 86_400:
            return _error(400, "invalid_request_error")
        name = f"cs_test_{next(self._numbers)}"
        self.sessions[name] = {
            "id": name,
            "object": "checkout.session",
            "status": "open",
            "payment_status": "unpaid",
            "url": f"https://checkout.stripe.example/{name}",
            "amount_total": int(parameters["line_items[0][price_data][unit_amount]"]),
            "currency": parameters["line_items[0][price_data][currency]"],
            "client_reference_id": parameters["client_reference_id"],
            "metadata": {
                field: parameters[f"metadata[{field}]"]
                for field in ("account_id", "checkout_id", "attempt_id")
            },
            "payment_intent": None,
        }
        return 200, self.sessions[name]

    def _found(self, name: str) -> Answer:
        return (200, self.sessions[name]) if name in self.sessions else _error(404, "invalid_request_error")

    def _expire(self, name: str) -> Answer:
        if self.sessions[name]["status"] != "open":
            return _error(400, "invalid_request_error")
        self.sessions[name] |= {"status": "expired", "url": None}
        return 200, self.sessions[name]

    def refund_by_hand(self, reference: str, status: str = "succeeded") -> None:
        """The merchant refunds the payment in the dashboard."""
        refund = {"id": reference, "object": "refund", "payment_intent": "pi_1", "status": status}
        self.refunds.insert(0, refund)

    def _list_refunds(self, parameters: Parameters) -> Answer:
        found = [each for each in self.refunds if each["payment_intent"] == parameters["payment_intent"]]
        return 200, {"object": "list", "url": "/v1/refunds", "has_more": False, "data": found}

    def _refund(self, parameters: Parameters) -> Answer:
        for refund in self.refunds:
            is_good = refund.get("status") != "failed"
            if is_good and refund["payment_intent"] == parameters["payment_intent"]:
                return _error(400, "invalid_request_error", code="charge_already_refunded")
        refund = {"id": f"re_{len(self.refunds) + 1}", "object": "refund"}
        self.refunds.append(refund | {"payment_intent": parameters["payment_intent"]})
        return 200, refund


def _error(status: int, kind: str, **more: str) -> Answer:
    return status, {"error": {"type": kind, "message": "No.", **more}}


def _response(status: int, body: Any) -> Response:
    return Response(orjson.dumps(body), status=status, content_type="application/json")


def _wait_for_hanging_up(request: Request) -> None:
    connection = request.environ["werkzeug.socket"]
    connection.settimeout(30)
    assert connection.recv(1) == b""


def _fail(request: Request, how: Any) -> Response:
    if how == "reset":
        connection = request.environ["werkzeug.socket"]
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    if isinstance(how, int):
        kinds = {402: "card_error", 500: "api_error"}
        return _response(*_error(how, kinds.get(how, "invalid_request_error")))
    return Response(how if isinstance(how, bytes) else b"", content_type="application/json")
