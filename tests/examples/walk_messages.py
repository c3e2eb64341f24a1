"""Messages go out and come in: emails, webhooks, background work, and the feed of events."""

import hashlib
import hmac
import time
from typing import Any

import orjson
from django.utils import timezone
from stripe import WebhookSignature

from commerce.outside.http import Answer
from commerce.webhooks.messages import Message
from commerce.webhooks.recording import record_delivery
from tests.emails.renderer.conftest import MJML
from tests.examples.walk_shop import Walk

KEY = "order.confirmation"


def manage_templates(walk: Walk) -> None:
    path = f"email/templates/{KEY}/de"
    walk.admin.do("GET", "email/templates.json")
    walk.admin.do("GET", f"{path}.json")
    own = {
        "subject": "Ihre Bestellung {{ order.number }}",
        "preheader": "Danke!",
        "body_source": MJML.format("Hallo {{ order.shipping_address.first_name }}"),
        "expected_version": 0,
        "note": "Shorter",
    }
    walk.admin.do("PUT", f"{path}.json", own)
    walk.admin.do("POST", f"{path}/preview.json", {"subject": "Bestellung {{ order.number }}"})
    wanted = {"to_email": "staff@acme.example", "ctx": {"order": {"number": "1001"}}}
    walk.admin.do("POST", f"{path}/test_send.json", wanted)
    version = walk.admin.do("GET", f"{path}/versions.json")["email_template_versions"][0]
    walk.admin.do("GET", f"{path}/versions/{version['id']}.json")
    walk.admin.do("DELETE", f"{path}.json?expected_version=1")
    again = {"expected_version": 2, "note": "It was better."}
    walk.admin.do("POST", f"{path}/versions/{version['id']}/restore.json", again)


def send_emails(walk: Walk, customer_id: str, order_id: str) -> None:
    wanted = {
        "template_key": KEY,
        "customer_id": int(customer_id),
        "ctx": {"order": {"number": "1001"}},
        "reference_type": "order",
        "reference_id": int(order_id),
        "idempotency_key": "order-1001-again",
        "skip_notification_check": True,
    }
    delivery = walk.admin.do("POST", "email/send.json", wanted)["email_delivery"]
    for kind in ("delivered", "opened", "clicked", "bounced"):
        _report(walk, delivery["provider_message_id"], f"email.{kind}")
    walk.admin.do("GET", f"email/deliveries.json?customer_id={customer_id}&status=bounced")
    walk.admin.do("GET", f"email/deliveries/{delivery['id']}.json?include_body=true")


def _report(walk: Walk, message_id: str, event_type: str) -> None:
    event = {"type": event_type, "data": {"email_id": message_id, "created_at": "2030-01-15T09:31:00Z"}}
    body = orjson.dumps(event)
    signature = hmac.new(b"provider-secret", body, hashlib.sha256).hexdigest()
    walk.storefront.do("POST", "/webhooks/provider", body, **{"provider-signature": signature})


def receive_from_stripe(walk: Walk) -> None:
    event = {
        "id": "evt_1",
        "object": "event",
        "type": "customer.created",
        "data": {"object": {"id": "cus_1"}},
    }
    body = orjson.dumps(event)
    signature = WebhookSignature.generate_signature_header(body.decode(), "whsec_example", int(time.time()))
    walk.storefront.do("POST", f"/webhooks/stripe/{walk.shop.id}", body, **{"stripe-signature": signature})


def manage_endpoints(walk: Walk) -> None:
    wanted = {"url": "https://93.184.216.34/hooks", "description": "ERP", "topics": ["order.paid"]}
    endpoint = walk.admin.do("POST", "webhook_endpoints.json", wanted)["webhook_endpoint"]
    path = f"webhook_endpoints/{endpoint['id']}"
    walk.admin.do("GET", "webhook_endpoints.json")
    walk.admin.do("GET", f"{path}.json")
    walk.admin.do("PUT", f"{path}.json", {"topics": ["order.paid", "order.cancelled"]})
    walk.admin.do("POST", f"{path}/rotate_secret.json", {"grace_seconds": 86400})
    walk.admin.do("POST", f"{path}/ping.json")
    # It is gone, and therefore disabled.
    answer = Answer(status=410, excerpt="Gone", error="", duration_ms=42)
    with walk.shop.scope():
        record_delivery(
            endpoint_id=int(endpoint["id"]),
            message=Message(id="1", type="order.paid", body=b"{}"),
            attempt=1,
            answer=answer,
            now=timezone.now(),
        )
    walk.admin.do("GET", f"{path}/deliveries.json?status=failed")
    walk.admin.do("DELETE", f"{path}.json")


def manage_dispatches(walk: Walk) -> None:
    page = walk.admin.do("GET", "outbox_dispatches.json?status=pending&task_name=send_email&limit=1")
    path = f"outbox_dispatches/{page['outbox_dispatches'][0]['id']}"
    walk.admin.do("GET", f"{path}.json")
    walk.admin.do("POST", f"{path}/cancel.json")
    walk.admin.do("POST", f"{path}/retry.json")


def read_events(walk: Walk) -> list[dict[str, Any]]:
    """Read the feed of events; recorded is a short page of it."""
    walk.admin.do("GET", "events.json?limit=2")
    events: list[dict[str, Any]] = walk.admin.do("GET", "events.json?limit=250")["events"]
    return events
