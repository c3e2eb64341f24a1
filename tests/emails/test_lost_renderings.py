"""Templates that end processes of the renderer: their account's own rest, and nobody else's."""

import pytest
import redis
from django.utils import timezone

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import lost_renderings
from emails.lost_renderings import REMEMBERED_S, REST_S, OwnTemplatesResting, is_suspect
from emails.own_templates.models import EmailTemplateVersion
from emails.paces import Lane, choose_lane, forget_paces
from tests.emails.api.sending import is_untouched, send
from tests.emails.conftest import Renderer, serving
from tests.factories import make_customer
from tests.problems import problem
from tests.servers import closed_port

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "email/templates/order.confirmation"


class DeadlyRenderer(Renderer):
    """Hangs up without an answer when a template says so, or as often as told."""

    lost = 0

    def hold(self, request: dict) -> None:
        if "deadly" in request["body_source"] or self.lost:
            self.lost = max(0, self.lost - 1)
            raise ConnectionError


@pytest.fixture
def deadly(settings):
    server = DeadlyRenderer()
    settings.RENDERER_URL = server.url
    with serving(server):
        yield server


def rows(shop):
    with shop.scope():
        found = OutboxDispatch.objects.filter(target__task_name="send_email").order_by("pk")
        return [(row.status, row.attempts) for row in found]


def make_due(shop):
    with shop.scope():
        OutboxDispatch.objects.update(due_at=timezone.now())


def end_rest(shop):
    lost_renderings.client().expire(f"renderer:lost:{shop.id}", REMEMBERED_S - REST_S)


def test_own_template_that_ends_a_process_makes_the_accounts_own_rest(
    shop, other_shop, deadly, mail_dir, enqueue_email, make_version
):
    make_version(shop, body_source="<mjml>deadly</mjml>")
    make_version(shop, template_key="order.shipped", body_source="<mjml>own</mjml>")
    make_version(other_shop, body_source="<mjml>own</mjml>")
    enqueue_email(shop, locale="en")
    run_due()
    assert (rows(shop), deadly.lanes) == ([("pending", 1)], ["quick"])

    make_due(shop)
    enqueue_email(shop, key="shipped", template_key="order.shipped", locale="en")
    enqueue_email(other_shop, locale="en")
    run_due()

    # The account's own templates wait without an attempt. Those of others don't.
    assert (rows(shop), rows(other_shop)) == ([("pending", 1), ("pending", 0)], [("succeeded", 0)])
    assert deadly.lanes == ["quick", "quick"]
    with shop.scope():
        waits = [row.due_at - timezone.now() for row in OutboxDispatch.objects.order_by("pk")]
    assert all(REST_S - 60 < wait.total_seconds() <= 2 * REST_S for wait in waits)


def test_platforms_template_does_not_rest(shop, deadly, mail_dir, enqueue_email, make_version):
    make_version(shop, locale="en", body_source="<mjml>deadly</mjml>")
    enqueue_email(shop, locale="en")
    run_due()

    enqueue_email(shop, key="shipped", template_key="order.shipped", locale="en")
    run_due()

    assert rows(shop) == [("pending", 1), ("succeeded", 0)]


def test_template_that_ends_a_second_process_is_refused_for_good(
    shop, deadly, mail_dir, enqueue_email, make_version
):
    make_version(shop, body_source="<mjml>deadly</mjml>")
    enqueue_email(shop, locale="en")
    run_due()
    end_rest(shop)
    # As in another process, which has seen no slow message.
    forget_paces()
    make_due(shop)

    run_due()

    assert (rows(shop), deadly.lanes) == ([("dead", 1)], ["quick", "slow"])
    with shop.scope():
        assert OutboxDispatch.objects.get().last_error == (
            "PermanentFailure: worker_lost: Rendering ended a process of the renderer again."
        )
    with pytest.raises(OwnTemplatesResting):
        is_suspect(shop.id)


def test_renderer_that_has_gone_is_no_templates_fault(
    shop, deadly, mail_dir, enqueue_email, make_version, monkeypatch
):
    """It was restarted with the message under way."""
    make_version(shop, body_source="<mjml>deadly</mjml>")
    enqueue_email(shop, locale="en")
    monkeypatch.setattr("emails.renderer_client._is_listening", lambda url: False)

    run_due()

    assert rows(shop) == [("pending", 1)]
    assert is_suspect(shop.id) is False
    assert choose_lane(shop.id) is Lane.QUICK


def test_request_to_send_a_resting_template_says_so(shop, deadly, mail_dir, make_version):
    customer = make_customer(shop)
    make_version(shop, locale="en", body_source="<mjml>deadly</mjml>")

    lost = send(shop, customer, locale="en")
    resting = send(shop, customer, locale="en")

    assert problem(lost) == (502, "renderer_failed")
    assert problem(resting) == (503, "templates_resting")
    assert REST_S - 60 < int(resting["Retry-After"]) <= REST_S
    assert is_untouched(shop)


def test_platforms_template_that_is_lost_is_tried_again_in_the_quick_lane(
    shop, deadly, mail_dir, enqueue_email
):
    deadly.lost = 1
    enqueue_email(shop)

    run_due()

    assert (rows(shop), deadly.lanes) == ([("succeeded", 0)], ["quick", "quick"])
    assert choose_lane(shop.id) is Lane.QUICK
    assert is_suspect(shop.id) is False


def test_draft_that_ends_a_process_is_refused_and_further_own_ones_rest(shop, other_shop, deadly):
    draft = {"subject": "S", "body_source": "<mjml>deadly</mjml>"}

    refused = shop.admin.post(f"{PATH}/en/preview.json", draft)
    resting = [
        shop.admin.post(f"{PATH}/en/preview.json", {"body_source": "<mjml>other</mjml>"}),
        shop.admin.put(f"{PATH}/en.json", draft | {"expected_version": 0}),
    ]

    assert problem(refused) == (422, "template_invalid")
    assert [(error["field"], error["code"]) for error in refused.json()["errors"]] == [
        ("body_source", "template_limit_exceeded")
    ]
    assert [problem(answer) for answer in resting] == [(503, "templates_resting")] * 2
    assert all(REST_S - 60 < int(answer["Retry-After"]) <= REST_S for answer in resting)
    assert deadly.lanes == ["slow"]
    with shop.scope():
        assert not EmailTemplateVersion.objects.exists()
    # The platform's, and other accounts' own, are shown.
    assert shop.admin.post(f"{PATH}/en/preview.json", {}).status_code == 200
    assert (
        other_shop.admin.post(f"{PATH}/en/preview.json", {"body_source": "<mjml>own</mjml>"}).status_code
        == 200
    )


def test_draft_of_the_platforms_template_that_is_lost_is_not_blamed(shop, deadly):
    deadly.lost = 1

    assert problem(shop.admin.post(f"{PATH}/en/preview.json", {})) == (502, "renderer_failed")
    assert is_suspect(shop.id) is False


def test_nothing_is_remembered_without_redis(
    shop, deadly, mail_dir, enqueue_email, make_version, monkeypatch
):
    gone = redis.Redis(port=closed_port())
    monkeypatch.setattr(lost_renderings, "client", lambda: gone)
    make_version(shop, body_source="<mjml>deadly</mjml>")
    enqueue_email(shop, locale="en")
    for _ in range(2):
        make_due(shop)
        run_due()

    assert rows(shop) == [("pending", 2)]
