"""What webhook endpoints must be like, whichever interface they come through."""

from commerce.events.types import EventType
from commerce.rules import Fields, choice, http_url, integer, items, refuse, text
from commerce.wording import Wording

from .models import WebhookEndpoint

MAX_URL = 1000
MAX_DESCRIPTION = 200
# How long messages are signed with the previous secret as well. A day is usual.
MAX_GRACE_S = 2_592_000
# Endpoints are disabled by their failures alone.
STATUSES = (WebhookEndpoint.Status.ACTIVE, WebhookEndpoint.Status.PAUSED)


def endpoint_url(value: object) -> str:
    url = http_url(value)
    if len(url) > MAX_URL:
        refuse("max_length", Wording("At most %(count)s characters are allowed.", count=MAX_URL))
    return url


_check_description = text(MAX_DESCRIPTION, may_be_blank=True)
_check_topics = items(choice(EventType.values), max_length=len(EventType))
ENDPOINT = Fields(
    required={"url": endpoint_url},
    optional={
        # Null removes the description.
        "description": lambda value: _check_description("" if value is None else value),
        "topics": lambda value: sorted(set(_check_topics(value))),
        "status": choice(STATUSES),
    },
)
ROTATION = Fields(required={"grace_seconds": integer(max_value=MAX_GRACE_S)})
