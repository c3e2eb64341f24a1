import pytest

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests.emails.own_templates.conftest import PATH, body
from tests.problems import problem


def test_test_message_goes_to_the_address_with_the_template_in_force(
    shop,
    renderer,
    make_version,
    mail_dir,
):
    make_version(shop, locale="de", subject="Own {{ order.number }}")

    answer = shop.admin.post(f"{PATH}/de/test_send.json", {"to_email": "me@example.com"})
    run_due()

    assert answer.status_code == 201
    dispatch = answer.json()["outbox_dispatch"]
    assert (dispatch["target"], dispatch["status"]) == ({"task_name": "send_email"}, "pending")
    (sent,) = shop.admin.get("email/deliveries.json?reference_type=email_template_test").json()[
        "email_deliveries"
    ]
    assert (sent["to_email"], sent["subject"], sent["customer_id"]) == ("me@example.com", "Own 1001", None)


def test_test_messages_are_each_sent(shop):
    for _ in range(2):
        shop.admin.post(f"{PATH}/de/test_send.json", {"to_email": "me@example.com", "ctx": {"a": 1}})

    with shop.scope():
        assert [row.payload["ctx"] for row in OutboxDispatch.objects.all()] == [{"a": 1}] * 2


@pytest.mark.parametrize("to_email", ["", "nobody", None, "a@b.c\n"])
def test_test_message_to_no_address_is_refused(shop, to_email):
    answer = shop.admin.post(f"{PATH}/de/test_send.json", {"to_email": to_email})

    assert answer.json()["errors"][0]["field"] == "to_email"
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


def test_test_message_of_an_unknown_template_is_refused(shop):
    answer = shop.admin.post("email/templates/unheard.of/de/test_send.json", {"to_email": "me@example.com"})

    assert problem(answer) == (404, "template_not_found")


def test_preview_needs_the_scope_to_read_and_a_test_message_that_to_write(shop, renderer):
    reader = shop.client_with("read_emails")

    assert reader.post(f"{PATH}/en/preview.json", {}).status_code == 200
    assert problem(reader.post(f"{PATH}/en/test_send.json", {})) == (403, "insufficient_scope")
    assert problem(reader.put(f"{PATH}/en.json", body())) == (403, "insufficient_scope")
