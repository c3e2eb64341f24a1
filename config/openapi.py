"""Adds to the API document what isn't a view of the REST framework: inbound webhooks, and the events that we send."""

from typing import Any

from django.utils.module_loading import import_string

from commerce.events.api.event_document import describe_events
from commerce.payments.connectors import load_connectors
from emails.api import webhook_document as provider


def add_webhooks(result: dict[str, Any], generator: object, request: object, public: bool) -> dict[str, Any]:
    paths = {"/webhooks/provider": provider.DOCUMENT}
    for connector in load_connectors().values():
        if connector.documents:
            paths |= import_string(connector.documents)
    result["paths"] |= paths
    result["webhooks"] = describe_events()
    return result
