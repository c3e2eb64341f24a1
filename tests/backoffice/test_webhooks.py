"""Webhook endpoints in the back office."""

from django.utils import timezone

from tests.commerce.webhooks.rows import dispatches_of, make_delivery, make_endpoint, reread

LIST = "webhooks/webhookendpoint/"


def test_page_shows_deliveries_and_no_secret(shop, owner):
    endpoint = make_endpoint(shop)
    make_delivery(shop, endpoint, message_id="4711")

    pages = [
        owner.get(path).content.decode()
        for path in (LIST, f"{LIST}{endpoint.pk}/change/", "webhooks/webhookdelivery/")
    ]

    assert "4711" in pages[1]
    assert "503" in pages[1]
    assert all(endpoint.secret not in page for page in pages)


def test_endpoint_is_paused_and_resumed(shop, owner):
    endpoint = make_endpoint(shop)

    owner.confirm(f"{LIST}{endpoint.pk}/pause/")
    paused = reread(shop, endpoint)
    owner.confirm(f"{LIST}{endpoint.pk}/resume/")

    assert (paused.status, paused.paused_at is None) == ("paused", False)
    assert (reread(shop, endpoint).status, reread(shop, endpoint).paused_at) == ("active", None)


def test_ping_is_enqueued(shop, owner):
    endpoint = make_endpoint(shop)

    owner.confirm(f"{LIST}{endpoint.pk}/ping/")

    (dispatch,) = dispatches_of(shop)
    assert (dispatch.task_name, dispatch.payload["endpoint_id"]) == ("ping_webhook", endpoint.pk)


def test_rotation_shows_the_secret_once(shop, owner):
    endpoint = make_endpoint(shop)

    answer = owner.confirm(f"{LIST}{endpoint.pk}/rotate_secret/", grace_seconds=60)

    rotated = reread(shop, endpoint)
    assert rotated.secret != endpoint.secret == rotated.previous_secret
    assert rotated.secret in answer.content.decode()
    assert "whsec_" not in owner.get(f"{LIST}{endpoint.pk}/history/").content.decode()


def test_staff_who_are_no_owners_can_not_rotate(shop, staff_of):
    endpoint = make_endpoint(shop)

    answer = staff_of(shop, role="manager").confirm(f"{LIST}{endpoint.pk}/rotate_secret/", grace_seconds=0)

    assert answer.status_code == 403
    assert reread(shop, endpoint).secret == endpoint.secret


def test_endpoint_of_another_shop_is_not_there(other_shop, owner):
    endpoint = make_endpoint(other_shop)

    answer = owner.confirm(f"{LIST}{endpoint.pk}/pause/")

    assert answer.status_code == 404
    assert reread(other_shop, endpoint).status == "active"


def test_overview_leads_to_the_disabled(shop, owner):
    fields = {"status": "disabled", "disabled_reason": "gone", "paused_at": timezone.now()}
    disabled = make_endpoint(shop, url="https://93.184.216.34/gone", **fields)
    make_endpoint(shop, url="https://93.184.216.34/fine")

    one = next(one for one in owner.get().context["tasks"] if one.count)
    listed = owner.browser.get(one.task.link).context["cl"].result_list

    assert (one.task.title, one.text, one.is_alarming) == ("Disabled webhooks", "1", True)
    assert [row.pk for row in listed] == [disabled.pk]
