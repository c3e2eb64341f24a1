"""Adds endpoints that aren't REST framework views to the API document."""

from typing import Any

from commerce.payments.stripe import webhook_document as stripe
from emails.api import webhook_document as provider


def add_webhooks(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    result["paths"] |= {
        "/webhooks/provider": provider.DOCUMENT,
        "/webhooks/stripe/{account_id}": stripe.DOCUMENT,
    }
    return result
