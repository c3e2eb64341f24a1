"""A delivery to report about, in an installation that accepts unsigned events."""

import pytest

from tests.emails.api.provider_webhook.events import MESSAGE_ID
from tests.factories import make_delivery


@pytest.fixture(autouse=True)
def _accept_unsigned_events(settings):
    """Accept unsigned events, which an installation may allow where no secret is set."""
    settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED = True


@pytest.fixture
def delivery(shop):
    return make_delivery(shop, provider_message_id=MESSAGE_ID, reference_type="order", reference_id=7)
