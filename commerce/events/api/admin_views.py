from functools import partial

from rest_framework.request import Request
from rest_framework.response import Response

from commerce.events import queries
from commerce.events.envelope import make_envelope
from commerce.paging import oldest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many
from commerce.rest.views import AdminViewSet

from .serializers import EventFilters, EventOutput


class EventsViewSet(AdminViewSet):
    """What happened in the shop: a feed to follow by the id of the last event read. The same events are sent to webhook
    endpoints.
    """

    area = "events"

    @answers(
        many("events", EventOutput),
        parameters=[*PAGE_PARAMETERS, EventFilters],
    )
    def list(self, request: Request) -> Response:
        """Read the feed of events.

        Oldest first. Ask again with `cursor_id` of the last event read: no event is left out, and none appears before
        one that was read.
        """
        events = queries.gapless_events(**self.valid_query(EventFilters))
        return Response(
            oldest_first(events, self.cursor).answer(
                "events", partial(make_envelope, version=self.api_version)
            )
        )
