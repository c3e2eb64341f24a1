from collections.abc import Callable
from itertools import count

import pytest

from tests.backoffice.clients import StaffClient, make_operator, make_role, make_staff
from tests.demo.test_browser import page  # noqa: F401  a fixture
from tests.emails.conftest import mail_dir  # noqa: F401  a fixture
from tests.shops import Shop


@pytest.fixture
def owner(shop: Shop) -> StaffClient:
    """An owner of the shop, logged in and working in it."""
    return make_staff(shop)


@pytest.fixture
def support(shop: Shop) -> StaffClient:
    """A staff member of the shop who may only read."""
    return make_staff(shop, role="read_only")


@pytest.fixture
def operator(shop: Shop) -> StaffClient:
    """A superuser, logged in and working in the shop."""
    client = make_operator()
    client.choose(shop)
    return client


@pytest.fixture
def staff_of(db: None) -> Callable[..., StaffClient]:
    """A factory of staff: `staff_of(shop, other_shop, role="support")`."""
    return make_staff


@pytest.fixture
def client_with(shop: Shop) -> Callable[..., StaffClient]:
    """A factory of members whose role has just these scopes: `client_with("read_orders")`."""
    numbers = count(1)

    def make(*scopes: str) -> StaffClient:
        role = make_role(shop, *scopes, name=f"Own {next(numbers)}")
        return make_staff(shop, role=str(role.pk))

    return make
