"""A web server whose threads are all busy, or all those of one caller."""

import select
from contextlib import ExitStack, contextmanager

import pytest

from config.stack.waiting import until_deadline
from tests.clients import ADMIN_ROOT, STOREFRONT_ROOT
from tests.front.served import PLACES, THREADS
from tests.front.wire import Wire, ask

# The threads and waiting places that one caller may use.
SHARE, PLACES_OF_ONE = THREADS - 2, (PLACES + 1) // 2
ENTRY = f"POST {STOREFRONT_ROOT}checkouts.json?wait"


@pytest.fixture
def begun(gate):
    """Close the gate; return the requests that have started since."""
    names = gate.with_name("begun")
    names.write_text("")
    gate.touch()
    yield lambda: names.read_text().splitlines()
    gate.unlink(missing_ok=True)


@contextmanager
def wires(port, number):
    with ExitStack() as stack:
        yield [stack.enter_context(Wire(port)) for _ in range(number)]


def wait_until_begun(begun, number):
    for _ in until_deadline(30):
        if len(begun()) == number:
            return
    pytest.fail(f"Begun are {begun()}.")


def test_full_server_answers_healthz_and_refuses_what_it_has_no_place_for(showing, gate, begun):
    with wires(showing, SHARE + PLACES_OF_ONE + 1) as waiting:
        for wire in waiting[:SHARE]:
            wire.send("GET /a?wait")
        wait_until_begun(begun, SHARE)
        for wire in waiting[SHARE:]:
            wire.send("GET /a?wait")
        # One of them finds no place; the others wait.
        (refused,), _, _ = select.select(waiting, [], [], 30)
        waiting.remove(refused)

        assert ask(showing, "GET /healthz").json() == {"status": "ok"}
        assert ask(showing, "HEAD /healthz").status == 200
        for answer in (refused.answer(), ask(showing, "POST /a?wait", body=b"{}")):
            assert answer.status == 503
            assert answer.json()["code"] == "server_busy"
            assert answer.json()["request_id"] == answer.headers["x-request-id"]
            assert answer.headers["retry-after"] == "1"
            assert not answer.announces_close

        gate.unlink()
        assert [wire.answer().status for wire in waiting] == [200] * len(waiting)


@pytest.mark.parametrize(
    ("path", "header", "other"),
    [
        (f"{STOREFRONT_ROOT}x", "X-Storefront-Key: pk_1", "X-Storefront-Key: pk_2"),
        (f"{ADMIN_ROOT}x", "Authorization: Bearer sk_1", "Authorization: Bearer sk_2"),
        # Made-up keys from one address are one caller.
        (f"{STOREFRONT_ROOT}x", "X-Storefront-Key: made_up_", "X-Storefront-Key: pk_2"),
        (f"{ADMIN_ROOT}x", "Authorization: Bearer made_up_", "Authorization: Bearer sk_2"),
        (f"{STOREFRONT_ROOT}x", "X-Storefront-Key: \xff", "X-Storefront-Key: pk_2"),
        # A public key is none of the merchant's on the admin API.
        (f"{ADMIN_ROOT}x", "Authorization: Bearer pk_1", "Authorization: Bearer sk_1"),
        # A shop's key is ignored next to an unreadable one.
        (f"{STOREFRONT_ROOT}x", "X-Storefront-Key: \xff\r\nX-Storefront-Key: pk_1", "X-Storefront-Key: pk_1"),
        (f"{ADMIN_ROOT}x", "Authorization: \xff\r\nAuthorization: Bearer sk_1", "Authorization: Bearer sk_1"),
        (f"{STOREFRONT_ROOT}x", "X-Storefront-Key: pk_1\r\nX-Storefront-Key: pk_1", "X-Storefront-Key: pk_1"),
    ],
)
def test_caller_who_has_all_that_one_may_have_delays_no_other(showing, gate, begun, path, header, other):
    with wires(showing, SHARE + PLACES_OF_ONE) as waiting:
        for number, wire in enumerate(waiting):
            # Headers that the API doesn't read, or another spelling, don't make another caller.
            sent = _another_key(header, number).replace("Bearer ", "bearer   ")
            wire.send(f"GET {path}?wait", sent, f"Cookie: a={number}")
        wait_until_begun(begun, SHARE)

        assert ask(showing, f"GET {path}", other).status == 200
        assert ask(showing, f"GET {path}", _another_key(header, 5)).status == 503
        assert len(begun()) == SHARE
        gate.unlink()
        assert [wire.answer().status for wire in waiting] == [200] * len(waiting)


def _another_key(header, number):
    """Return another made-up key, or another key of the same shop."""
    if header.endswith("made_up_"):
        return f"{header}{number}"
    return f"{header}b" if header.endswith("_1") and number % 2 and "\xff" not in header else header


def test_shop_is_another_caller_than_its_visitors_address(showing, gate, begun):
    header = "X-Storefront-Key: pk_1"
    with wires(showing, SHARE + PLACES_OF_ONE) as waiting:
        for wire in waiting:
            wire.send(f"GET {STOREFRONT_ROOT}x?wait", header)
        wait_until_begun(begun, SHARE)

        assert ask(showing, f"GET {STOREFRONT_ROOT}x").status == 200
        assert ask(showing, "GET /backoffice/", header).status == 200
        gate.unlink()
        assert [wire.answer().status for wire in waiting] == [200] * len(waiting)


def test_merchants_program_gets_the_place_of_one_of_many_visitors(showing, gate, begun):
    with wires(showing, SHARE + PLACES_OF_ONE) as visitors, Wire(showing) as program:
        for wire in visitors:
            wire.send(f"GET {STOREFRONT_ROOT}x?wait", "X-Storefront-Key: pk_1")
        wait_until_begun(begun, SHARE)
        # Refused, so all others wait.
        assert ask(showing, f"GET {STOREFRONT_ROOT}x?wait", "X-Storefront-Key: pk_1").status == 503

        program.send(f"GET {ADMIN_ROOT}x?wait", "Authorization: Bearer sk_1")

        ([refused], _, _) = select.select([*visitors, program], [], [], 30)
        assert refused in visitors
        answer = refused.answer()
        assert (answer.status, answer.json()["code"]) == (503, "server_busy")
        gate.unlink()
        rest = [wire for wire in (*visitors, program) if wire is not refused]
        assert [wire.answer().status for wire in rest] == [200] * len(rest)


def test_shop_gets_the_place_of_a_stranger_when_all_are_taken(showing, gate, begun):
    path = f"GET {STOREFRONT_ROOT}x?wait"
    with wires(showing, SHARE * 2 + PLACES) as wires_of_all, Wire(showing) as late:
        busy, strangers, other = wires_of_all[: SHARE * 2], wires_of_all[-PLACES:-1], wires_of_all[-1]
        for number, wire in enumerate(busy):
            wire.send(path, "X-Storefront-Key: " + ("made_up" if number < SHARE else "pk_1"))
        wait_until_begun(begun, SHARE * 2)
        for number, wire in enumerate(strangers):
            wire.send(path, f"X-Storefront-Key: made_up_{number}")
        other.send(path, "X-Storefront-Key: pk_1")
        # Nobody is refused, so all three wait; then there is no place left.
        assert ask(showing, path, "X-Storefront-Key: pk_1").status == 503

        late.send(path, "X-Storefront-Key: pk_2")

        ([refused], _, _) = select.select([*busy, *strangers, other, late], [], [], 30)
        assert refused in strangers
        answer = refused.answer()
        assert (answer.status, answer.json()["code"]) == (503, "server_busy")
        gate.unlink()
        rest = [wire for wire in (*busy, *strangers, other, late) if wire is not refused]
        assert [wire.answer().status for wire in rest] == [200] * len(rest)


@pytest.mark.parametrize(
    ("lines", "bodies"),
    [
        (
            [f"GET {STOREFRONT_ROOT}carts/t1.json?wait", f"GET {STOREFRONT_ROOT}carts/t%31/x.json?wait"],
            None,
        ),
        ([f"PUT {STOREFRONT_ROOT}checkouts/t1/address.json?wait"] * 2, None),
        ([ENTRY] * 2, [b'{"cart_token":"t1"}', b'{"cart_token":"t2", "\\u0063art_token" : "t1"}']),
        ([ENTRY] * 2, [b'{"cart_token":"t1"}', b'{"cart_token":" t1"}']),
        ([ENTRY] * 2, [b'{"cart_token":"t1\\n"}', b'{"cart_token":"\\u00a0\\t' + b" " * 200 + b't1"}']),
        ([ENTRY] * 2, [b'{"cart_token":"t1"}', b" " * 80_000 + b'{"cart_token":"t1"}']),
        ([ENTRY] * 2, [b'{"cart_token":"t1"' + b" " * 70_000 + b"}", b'{"cart_token":"t1"}']),
    ],
)
def test_requests_that_wait_for_one_cart_take_no_thread_of_their_shop(showing, gate, begun, lines, bodies):
    key = "X-Storefront-Key: pk_1"
    with wires(showing, 3) as waiting:
        for wire, line, body in zip(waiting, lines, bodies or [b""] * 2, strict=False):
            wire.send(line, key, f"Content-Length: {len(body)}", body=body)
            wait_until_begun(begun, 1)
        waiting[2].send(f"GET {STOREFRONT_ROOT}carts/other.json?wait", key)
        wait_until_begun(begun, 2)

        assert begun()[1] == f"{STOREFRONT_ROOT}carts/other.json"
        gate.unlink()
        assert [wire.answer().status for wire in waiting] == [200] * 3


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"cart_token":1}', b'{"cart_token":null}', b"\xff"])
def test_body_that_names_no_cart_is_left_to_the_application(showing, body):
    answer = ask(showing, ENTRY, "X-Storefront-Key: pk_1", body=body)

    assert answer.json()["body"][0] == len(body)
