"""Adds endpoints that aren't REST framework views to the API document."""

from typing import Any

from django.utils.module_loading import import_string

from commerce.payments.connectors import load_connectors
from emails.api import webhook_document as provider


def add_webhooks(result: dict[str, Any], generator: object, request: object, public: bool) -> dict[str, Any]:
    paths = {"/webhooks/provider": provider.DOCUMENT}
    for connector in load_connectors().values():
        if connector.documents:
            paths |= import_string(connector.documents)
    result["paths"] |= paths
    return result
