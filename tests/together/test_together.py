"""Several shops, whose shoppers, staff and processes do anything in any order: their books agree after every step.

A longer search, by hand, which prints what it has done:
pytest --hypothesis-profile=long --hypothesis-seed=1 --timeout=0 -n 0 -q -s tests/together/test_together.py
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, stateful
from hypothesis import settings as profile
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies._internal.featureflags import FeatureFlags, FeatureStrategy

from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures
from tests.together.deaths import Mortality
from tests.together.passing import Market
from tests.together.tally import Tally

SEARCH = profile(
    max_examples=max(8, profile.default.max_examples // 20),
    stateful_step_count=50,
    deadline=None,
    print_blob=True,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)

# Far more than the usual half minute, because shrinking a failure takes minutes. A long search has no limit.
LIMIT_S = 0 if profile.default.max_examples >= 1_000 else 900


class EveryRule(FeatureStrategy):
    """Chooses rules evenly, while Hypothesis would disable a random share of them in each example."""

    def do_draw(self, data: Any) -> FeatureFlags:
        return FeatureFlags()


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.usefixtures("db", "mail_dir", "vies")
def test_books_agree_whatever_happens(renderer, monkeypatch, settings):  # noqa: F811
    settings.OUTSIDE_ALLOW_PRIVATE = True
    Market.renderer, Market.tally, Market.mortality = renderer, Tally(), Mortality()
    Market.mortality.install(monkeypatch)
    monkeypatch.setattr(stateful, "FeatureStrategy", EveryRule)
    try:
        run_state_machine_as_test(Market, settings=SEARCH)
    finally:
        print(Market.tally.report(Market.mortality.calls, Market.mortality.deaths))  # noqa: T201  to be quoted; shown with -s
