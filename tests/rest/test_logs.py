"""Lines of the log: JSON with the ids of their request, account and dispatch, and never personal data."""

import json
import logging
import re
from functools import partial

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from commerce.outbox import runs
from commerce.outbox.handlers import Single
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.rest.logs import JSONFormatter, format_error, request_id
from emails.errors import ProviderFailed
from tests import factories
from tests.backoffice.clients import make_staff
from tests.storefront import ADDRESS, EMAIL, checkout_in

NAME = "Wilhelmina-Marked"
# What identifies the shopper, as it is sent.
MARKS = (EMAIL, "ada", ADDRESS["last_name"], ADDRESS["address1"], ADDRESS["phone"], NAME)


@pytest.fixture
def log():
    """The lines that are logged during a test, as they would be written."""
    lines: list[str] = []
    handler = logging.Handler(logging.DEBUG)
    handler.setFormatter(JSONFormatter())
    handler.emit = lambda record: lines.append(handler.format(record))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield lines
    root.removeHandler(handler)
    root.setLevel(level)


def entries(log, message):
    return [entry for entry in map(json.loads, log) if entry["message"] == message]


def test_line_has_the_ids_of_its_request_and_account(shop, log):
    token = request_id.set("of-the-caller")
    with shop.scope():
        logging.getLogger("example").warning("inside")
    logging.getLogger("example").warning("outside")
    request_id.reset(token)

    [inside] = entries(log, "inside")
    [outside] = entries(log, "outside")
    assert (inside["request_id"], inside["account_id"]) == ("of-the-caller", shop.id)
    assert (outside["request_id"], "account_id" in outside) == ("of-the-caller", False)


def test_dispatch_is_logged_with_the_request_that_enqueued_it(shop, log, monkeypatch):
    book = factories.make_variant(shop, stock=10)
    checkout = checkout_in("ready", shop, (book, 1))
    completion = {"x_request_id": "complete-1", "idempotency_key": "complete-1-key"}
    shop.storefront.post(f"checkouts/{checkout['token']}/complete.json", {}, **completion)

    def fail(dispatch):
        logging.getLogger("example").warning("under way")
        raise RuntimeError("no luck")

    monkeypatch.setattr(runs, "find_batch_maker", lambda _: partial(Single, fail))
    run_due()

    with shop.scope():
        [dispatch] = OutboxDispatch.objects.all()
    assert dispatch.request_id == "complete-1"
    ids = {
        "request_id": "complete-1",
        "account_id": shop.id,
        "dispatch_id": dispatch.pk,
        "task": "send_email",
    }
    [under_way] = entries(log, "under way")
    [failed] = entries(log, f"Dispatch {dispatch.pk} of account {shop.id}: failed, now pending")
    assert ids.items() <= under_way.items()
    assert ids.items() <= failed.items()
    assert failed["traceback"].endswith("builtins.RuntimeError: no luck")
    assert request_id.get() is None


def test_personal_data_of_a_sale_and_of_failures_is_in_no_line(shop, log, monkeypatch):
    logging.getLogger("example").warning("The log is read.")
    book = factories.make_variant(shop, stock=10)
    customer = shop.admin.post("customers.json", {"email": f"{NAME}@example.com", "first_name": NAME})
    again = shop.admin.post("customers.json", {"email": f"{NAME}@example.com", "first_name": NAME})
    checkout = checkout_in("completed", shop, (book, 1))
    staff = make_staff(shop)

    def refuse(dispatch):
        raise ProviderFailed(f"550 5.1.1 <{dispatch.payload['to_email']}>: Recipient address rejected")

    monkeypatch.setattr(runs, "find_batch_maker", lambda _: partial(Single, refuse))
    run_due()
    pages = [staff.get(f"orders/order/?q={EMAIL}"), staff.get(f"customers/customer/?q={NAME}")]

    assert (customer.status_code, again.status_code >= 400, checkout["phase"]) == (201, True, "completed")
    assert [page.status_code for page in pages] == [200, 200]
    written = "\n".join(log).lower()
    assert "the log is read." in written
    assert "recipient address rejected" in written
    # As words: the hexadecimal id of a request may contain "ada".
    assert [mark for mark in MARKS if re.search(rf"(?<!\w){re.escape(mark.lower())}(?!\w)", written)] == []


def raised_by(sql, *parameters):
    with (
        pytest.raises((IntegrityError, DataError)) as caught,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, parameters)
    return format_error(caught.value)


def test_error_of_the_database_names_its_constraint_and_no_values(shop):
    factories.make_customer(shop, email=EMAIL)
    with shop.scope():
        shown = raised_by("INSERT INTO customers SELECT * FROM customers WHERE email = %s", EMAIL)

    assert "duplicate key value violates unique constraint" in shown
    assert "customers" in shown
    assert "Traceback (most recent call last):\n  File " in shown
    assert EMAIL not in shown
    assert "already exists" not in shown


def test_error_about_a_value_does_not_repeat_it(db):
    assert 'invalid input syntax for type bigint: "***"' in raised_by("SELECT %s::bigint", NAME)
    assert format_error(ValueError(f"invalid literal for int() with base 10: '{NAME}'")).endswith(
        'builtins.ValueError: invalid literal for int() with base 10: "***"'
    )


def test_causes_are_shown_in_their_order():
    cause, error = KeyError("task_name"), RuntimeError("unknown")
    error.__cause__ = cause

    first, second = format_error(error).split(
        "\nThe above exception was the direct cause of the following exception:\n"
    )
    assert first.rstrip().endswith("builtins.KeyError: 'task_name'")
    assert second.endswith("builtins.RuntimeError: unknown")
