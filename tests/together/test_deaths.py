"""Each point at which a process may die is passed, and the damage is repaired."""

import pytest

from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures
from tests.together.deaths import CALL_POINTS, COMMIT_POINTS, Mortality
from tests.together.passing import Market
from tests.together.tally import Tally

SHOPPER = {
    "stall": 0,
    "index": 0,
    "quantity": 1,
    "email": "ada@example.com",
    "code": 0,
    "method": "test_card",
    "market": 0,
}


@pytest.mark.parametrize("point", [*COMMIT_POINTS, *CALL_POINTS])
@pytest.mark.usefixtures("db", "mail_dir", "vies")
def test_process_dies_where_it_is_to(point, renderer, monkeypatch, settings):  # noqa: F811
    settings.OUTSIDE_ALLOW_PRIVATE = True
    Market.renderer, Market.tally, Market.mortality = renderer, Tally(), (mortality := Mortality())
    mortality.install(monkeypatch)
    market = Market()
    market.open(modes=[True, True, True], reserves_late=False, shoppers=[])

    market.arrive(**SHOPPER, steps=8, death=(point, 1))
    market.take_step_of_order(stall=0, index=0, step="cancel")
    market.run_outbox()
    market.arrive(**SHOPPER, steps=4)
    market.cancel_payment(stall=0, checkout=-1)

    assert mortality.deaths == {point: 1}
    market.teardown()
