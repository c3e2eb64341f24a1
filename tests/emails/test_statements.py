"""How many statements an email costs, in how many messages to PostgreSQL."""

import pytest

from commerce.outbox.worker import run_due
from tests.factories import make_customer
from tests.tenancy.test_messages import messages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(shop, renderer, mail_dir, enqueue_email):
    """The messages to PostgreSQL for one email, sent by a worker that has sent one before."""

    def sent(**payload):
        enqueue_email(shop, key="first", **payload)
        run_due()
        enqueue_email(shop, key="second", **payload)
        with messages() as sent:
            run_due()
        assert len(list(mail_dir.glob("*.eml"))) == 2
        return sent

    return sent


def count_statements(message):
    """psycopg's own statements, such as the claim, are `bound`. Those that open and end transactions don't count."""
    return 1 if message == "bound" else message.count("EXECUTE ")


# The claims before and after it; the dispatch; whether it was sent, with the customer, the account, its settings and
# templates; the stored message, and its commit; the end of the dispatch, the delivery, and its event with the commit.
@pytest.mark.parametrize(
    ("has_customer", "statements"),
    [
        (False, [1, 1, 5, 1, 0, 1, 1, 1, 1]),
        # Whether the customer was redacted meanwhile, before the message is handed off and before it is recorded.
        (True, [1, 1, 5, 1, 1, 0, 1, 1, 1, 1, 1]),
    ],
)
def test_statements_of_an_email(shop, sent, has_customer, statements):
    customer_id = make_customer(shop).pk if has_customer else None

    assert [count_statements(message) for message in sent(customer_id=customer_id)] == statements
