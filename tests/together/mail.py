"""Acts on emails, webhooks and the outbox."""

import orjson
from django.test import Client
from django.utils import timezone
from hypothesis import strategies as st

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import retry_dispatch
from commerce.webhooks.models import WebhookEndpoint
from emails.models import EmailDelivery
from emails.own_templates.models import EmailTemplateVersion
from tests.emails.conftest import Renderer
from tests.together.changes import EMAIL_KEYS, TEMPLATE
from tests.together.fair import INDEXES, STALLS, act
from tests.together.merchants import Merchants
from tests.together.stalls import Stall, any_of

TEMPLATE_PATH = "email/templates/order.confirmation/en"
EVENTS = st.sampled_from(["email.delivered", "email.opened", "email.bounced"])
MONEY_TASKS = ("refund_payment", "cancel_payment")
RENDERED = {"subject": "Yours", "html": "<p>Hi</p>", "text": "Hi", "preheader": None, "warnings": []}


class Mail(Merchants):
    renderer: Renderer

    @act(stall=STALLS, is_kept=st.booleans())
    def change_template(self, stall: int, is_kept: bool) -> None:
        shop = self.stall(stall)
        path = f"{TEMPLATE_PATH}.json"
        if not is_kept:
            self._manage(shop, "DELETE", path)
        elif (shown := self._manage(shop, "GET", path)).status_code == 200:
            version = shown.json()["email_template"]["version"] or 0
            self._manage(shop, "PUT", path, TEMPLATE | {"expected_version": version})

    @act(stall=STALLS, index=INDEXES)
    def restore_template(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        shown = self._manage(shop, "GET", f"{TEMPLATE_PATH}.json")
        versions = self._ids(shop, EmailTemplateVersion)
        if versions and shown.status_code == 200:
            path = f"{TEMPLATE_PATH}/versions/{any_of(versions, index)}/restore.json"
            version = shown.json()["email_template"]["version"] or 0
            self._manage(shop, "POST", path, {"expected_version": version})

    @act(status=st.sampled_from([200, 422, 500]))
    def change_renderer(self, status: int) -> None:
        """Make templates valid or broken, or the renderer unavailable."""
        if status == 200:
            self.mend_renderer()
        else:
            self.renderer.refuse(status, "template_invalid")

    @act(stall=STALLS, key=EMAIL_KEYS, number=st.integers(1, 400), index=INDEXES)
    def send_email(self, stall: int, key: str, number: int, index: int) -> None:
        """Send an email with a key that looks like the product's own."""
        shop = self.stall(stall)
        customer_id = any_of(shop.customer_ids, index)
        body = {"template_key": "order.confirmation", "customer_id": customer_id, "ctx": {}}
        more = {"locale": "en", "idempotency_key": key.format(number)}
        self._manage(shop, "POST", "email/send.json", body | more)

    @act(stall=STALLS)
    def send_test_email(self, stall: int) -> None:
        self._manage(
            self.stall(stall), "POST", f"{TEMPLATE_PATH}/test_send.json", {"to_email": "a@b.example"}
        )

    @act(stall=STALLS, index=INDEXES, event_type=EVENTS)
    def hear_of_delivery(self, stall: int, index: int, event_type: str) -> None:
        """Receive an event that claims to come from the email provider."""
        shop = self.stall(stall)
        with shop.shop.scope():
            sent = list(EmailDelivery.objects.order_by("pk").values_list("provider_message_id", flat=True))
        if sent:
            data = {"email_id": any_of(sent, index), "created_at": "2026-11-22T10:00:00Z"}
            body = orjson.dumps({"type": event_type, "data": data})
            with self.mortality.life():
                answer = Client().post("/webhooks/provider", body, content_type="application/json")
            assert answer.status_code in (200, 401, 404)

    @act(stall=STALLS, topics=st.sampled_from([[], ["order.paid"]]))
    def open_webhook(self, stall: int, topics: list[str]) -> None:
        shop = self.stall(stall)
        body = {"url": f"http://127.0.0.1:9/{next(self.numbers)}", "topics": topics}
        self._manage(shop, "POST", "webhook_endpoints.json", body)

    @act(
        stall=STALLS,
        index=INDEXES,
        how=st.sampled_from(
            [("PUT", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/ping"), ("POST", "/rotate_secret")]
        ),
        status=st.sampled_from(["active", "paused"]),
    )
    def change_webhook(self, stall: int, index: int, how: tuple[str, str], status: str) -> None:
        shop = self.stall(stall)
        if endpoint_ids := self._ids(shop, WebhookEndpoint):
            verb, step = how
            body = {"status": status} if verb == "PUT" else None
            path = f"webhook_endpoints/{any_of(endpoint_ids, index)}{step}.json"
            self._manage(shop, verb, path, body)

    @act(stall=STALLS, index=INDEXES)
    def retry_dispatch(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        if ended := self._ids(shop, OutboxDispatch, status__in=["dead", "cancelled"]):
            self._manage(shop, "POST", f"outbox_dispatches/{any_of(ended, index)}/retry.json")

    @act(stall=STALLS, index=INDEXES)
    def cancel_dispatch(self, stall: int, index: int) -> None:
        """Cancel a dispatch. Those for refunds are retried afterwards, because the money is still owed."""
        shop = self.stall(stall)
        if not (waiting := self._ids(shop, OutboxDispatch, status__in=["pending", "dead"])):
            return
        path = f"outbox_dispatches/{any_of(waiting, index)}"
        try:
            self._manage(shop, "POST", f"{path}/cancel.json")
        finally:
            self._retry_money(shop)

    def mend_renderer(self) -> None:
        self.renderer.status, self.renderer.answer = 200, dict(RENDERED)

    def _retry_money(self, shop: Stall) -> None:
        """Retry as operators, whose process doesn't die."""
        called_off = self._ids(
            shop, OutboxDispatch, status="cancelled", key_space="product", target__task_name__in=MONEY_TASKS
        )
        with shop.shop.scope():
            for dispatch_id in called_off:
                retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())
