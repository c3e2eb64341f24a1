from commerce.events.models import Event
from commerce.formats import text_id, timestamp
from commerce.versions import ApiVersion, downgrade_event


def make_envelope(event: Event, version: ApiVersion) -> dict[str, object]:
    """Return an event as readers of a version see it, in the feed and in webhooks.

    An event that is older than the version stays in its own, which `api_version` names.
    """
    return {
        "id": text_id(event.pk),
        "type": event.type,
        # Names of versions are dates, so the smaller one is the older one.
        "api_version": min(event.api_version, version.name),
        "account_id": text_id(event.account_id),
        "occurred_at": timestamp(event.occurred_at),
        "data": downgrade_event(version, event_type=event.type, data=event.data, made_for=event.api_version),
    }
