"""A delivery to report about, in an installation that accepts unsigned events."""

import pytest

from tests.emails.api.provider_webhook.events import MESSAGE_ID
from tests.factories import make_delivery


@pytest.fixture(autouse=True)
def _unsigned_events_are_taken(settings):
    """As the contract has it where no secret is set, and as an installation may allow."""
    settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED = True


@pytest.fixture
def delivery(shop):
    return make_delivery(shop, provider_message_id=MESSAGE_ID, reference_type="order", reference_id=7)
