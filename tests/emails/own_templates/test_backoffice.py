"""The list of email templates, and the editor with its preview."""

from html import escape

import orjson
import pytest
from django.db import connection

from commerce.backoffice.models import StaffAction
from commerce.outbox.models import OutboxDispatch
from emails import renderer_client
from tests.backoffice.clients import messages_of
from tests.emails.own_templates.conftest import (
    KEY,
    states,
    versions,
)
from tests.emails.renderer.conftest import MJML

LIST = "emails/emailtemplateversion/"


def editor(locale="de", key=KEY):
    return f"{LIST}{key}/{locale}/edit/"


def press(client, button, locale="de", **changes):
    """Open the editor, change fields of it, and press a button."""
    page = client.get(editor(locale))
    sent = {name: value for name, value in page.context["form"].data.items() if value is not None}
    return client.post(editor(locale), sent | changes | {"do": button})


def errors_of(page):
    assert page.status_code == 200
    return page.context["form"].errors.get_json_data()


def messages(page, field):
    return [error["message"] for error in errors_of(page)[field]]


def actions(shop):
    with shop.scope():
        return list(StaffAction.objects.order_by("pk").values_list("summary", flat=True))


def test_list_shows_whose_templates_are_in_force(shop, owner, make_version):
    version = make_version(shop, locale="fr", author="staff:ann")

    page = owner.get(LIST)

    shown = {(row.template_key, row.locale): row for row in page.context["templates"]}
    assert shown[KEY, "fr"].source == "account"
    assert shown[KEY, "de"].source == "platform"
    assert "staff:ann" in page.content.decode()
    assert f"/backoffice/{editor('fr')}" in page.content.decode()
    assert version.number == shown[KEY, "fr"].version


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(
    shop,
    owner,
    make_version,
    django_assert_num_queries,
    number,
):
    for index in range(number):
        make_version(shop, locale="de", number=index + 1)
        make_version(shop, locale="fr", number=index + 1)
    owner.get(LIST)

    # Session, user, membership, time zone, the scope's four, the templates, and the tasks of the sidebar.
    with django_assert_num_queries(10):
        owner.get(LIST)


@pytest.mark.parametrize("locale", ["fr", "pt-BR"])
def test_list_opens_a_template_in_another_language(owner, locale):
    answer = owner.get(LIST, template_key=KEY, locale=locale)

    assert (answer.status_code, answer["Location"]) == (302, f"/backoffice/{editor(locale)}")


@pytest.mark.parametrize("locale", ["", "French", "FR", "\0"])
def test_list_refuses_what_is_no_locale(owner, locale):
    page = owner.get(LIST, template_key=KEY, locale=locale)

    assert page.status_code == 200
    assert page.context["form"].errors["locale"]


@pytest.mark.usefixtures("renderer")
def test_editor_shows_the_template_in_force_with_a_preview_that_can_do_nothing(owner):
    answer = owner.get(editor("en"))

    page = answer.content.decode()
    assert answer.context["rendered"].subject.startswith("Your order 1001 at ")
    assert '<iframe sandbox srcdoc="&lt;meta http-equiv=&quot;Content-Security-Policy&quot;' in page
    assert "default-src &#x27;none&#x27;" in page
    assert "Thank you for your order" in page
    assert errors_of(answer) == {}


@pytest.mark.usefixtures("renderer")
def test_editor_opens_in_a_locale_without_a_template_with_the_nearest(owner):
    page = owner.get(editor("de-AT"))

    assert page.context["template"].text.locale == "de"
    assert "There is no template in de-AT" in page.content.decode()


@pytest.mark.usefixtures("renderer")
def test_scripts_of_a_template_are_shown_to_nobody(owner):
    hostile = '<mj-raw><script>alert("1")</script></mj-raw>'
    source = MJML.format("Hello").replace("<mj-section>", f"{hostile}<mj-section>", 1)

    page = press(owner, "preview", body_source=source, body_text="<script>alert(2)</script>").content.decode()

    assert "<script>alert" not in page
    assert escape(escape('<script>alert("1")</script>')) not in page
    assert escape('<script>alert("1")</script>') in page


@pytest.mark.usefixtures("renderer")
def test_preview_shows_what_stands_in_the_form_and_keeps_nothing(shop, owner):
    page = press(
        owner,
        "preview",
        subject="For {{ name }}",
        body_source=MJML.format("Dear {{ name }}").replace("<mj-text>", '<mj-text colour="red">'),
        body_text="",
        ctx=orjson.dumps({"name": "Ann"}).decode(),
    )

    assert page.context["rendered"].subject == "For Ann"
    assert page.context["rendered"].text == "Dear Ann"
    assert "Line 1 after Liquid, &lt;mj-text&gt;: " in page.content.decode()
    assert versions(shop) == []


@pytest.mark.usefixtures("renderer")
def test_errors_are_shown_at_their_part_with_the_line(owner):
    liquid = press(owner, "preview", body_source="<mjml>\r\n  {% nope %}\r\n</mjml>")
    subject = press(owner, "preview", subject="{{ | }}")
    mjml = press(owner, "preview", body_source="<mjml>\n<mj-body>\n</mjml>")

    assert messages(liquid, "body_source")[0].startswith("Line 2, {% nope %}: ")
    assert messages(subject, "subject")[0].startswith("Line 1, {{ | }}: ")
    assert messages(mjml, "body_source")[0].startswith("Line 2 after Liquid: ")
    assert liquid.context["rendered"] is None


@pytest.mark.usefixtures("renderer")
def test_saved_template_is_in_force_and_logged(shop, owner):
    answer = press(owner, "save", subject="Neu {{ order.number }}", note="Shorter")

    assert answer.status_code == 302
    assert messages_of(answer) == ["Version 1 is now used."]
    template = shop.admin.get(f"email/templates/{KEY}/de.json").json()["email_template"]
    assert (template["subject"], template["note"], template["version"]) == (
        "Neu {{ order.number }}",
        "Shorter",
        1,
    )
    assert template["author"] == f"staff:{owner.user.username}"
    assert actions(shop) == [f"{KEY} de saved"]


@pytest.mark.usefixtures("renderer")
def test_template_comes_through_the_form_unchanged(shop, owner):
    before = shop.admin.get(f"email/templates/{KEY}/de.json").json()["email_template"]

    press(owner, "save", body_source=before["body_source"].replace("\n", "\r\n"))

    after = shop.admin.get(f"email/templates/{KEY}/de.json").json()["email_template"]
    for part in ("body_source", "body_text"):
        assert after[part] == before[part]


@pytest.mark.usefixtures("renderer")
def test_template_that_was_changed_meanwhile_is_not_overwritten(shop, owner, make_version):
    make_version(shop, locale="de")

    page = press(owner, "save", expected_version="0", subject="Mine")

    assert messages(page, "__all__") == ["The template has changed since it was read"]
    assert page.context["form"]["subject"].value() == "Mine"
    assert versions(shop) == [("de", 1, "saved")]
    assert actions(shop) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"subject": ""}, "subject"),
        ({"subject": "\0"}, "subject"),
        ({"body_source": ""}, "body_source"),
        ({"body_source": "x" * 70_000}, "body_source"),
        ({"body_source": "{% if %}"}, "body_source"),
        ({"expected_version": "x"}, "expected_version"),
        ({"expected_version": "-1"}, "expected_version"),
        ({"ctx": "{"}, "ctx"),
        ({"ctx": "[]"}, "ctx"),
        ({"ctx": "[" * 100_000}, "ctx"),
        ({"ctx": '{"a":' * 200 + "1" + "}" * 200}, "ctx"),
        ({"ctx": '{"a": NaN}'}, "ctx"),
        ({"note": "x" * 501}, "note"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("renderer")
def test_template_with_a_bad_field_is_not_saved(shop, owner, changes, field):
    page = press(owner, "save", **changes)

    assert field in errors_of(page)
    assert versions(shop) == []


@pytest.mark.usefixtures("no_renderer")
def test_editor_says_when_the_renderer_is_down(shop, owner):
    opened = owner.get(editor())
    saved = press(owner, "save")

    for page in (opened, saved):
        assert messages(page, "__all__") == ["The rendering service did not answer. Try again shortly."]
    assert versions(shop) == []


@pytest.mark.usefixtures("renderer")
def test_reset_goes_back_to_the_platforms_template(shop, owner, make_version):
    make_version(shop, locale="de")

    answer = press(owner, "reset")

    assert messages_of(answer) == ["The platform's template is used again."]
    assert states(shop.admin)[KEY, "de"] == ("platform", 2)
    assert actions(shop) == [f"{KEY} de reset"]


@pytest.mark.usefixtures("renderer")
def test_test_message_is_queued_and_the_form_stays(shop, owner):
    page = press(owner, "send_test", to_email="me@example.com", subject="Draft", ctx='{"a": 1}')

    with shop.scope():
        dispatch = OutboxDispatch.objects.get()
    assert (dispatch.payload["to_email"], dispatch.payload["ctx"]) == ("me@example.com", {"a": 1})
    assert page.context["form"]["subject"].value() == "Draft"
    assert actions(shop) == [f"{KEY} de sent as a test"]


@pytest.mark.parametrize("to_email", ["", "nobody"])
@pytest.mark.usefixtures("renderer")
def test_test_message_to_no_address_is_refused(shop, owner, to_email):
    page = press(owner, "send_test", to_email=to_email)

    assert "to_email" in errors_of(page)
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


@pytest.mark.usefixtures("renderer")
def test_version_is_restored_from_its_page(shop, owner, make_version):
    old = make_version(shop, locale="de", subject="Old")
    make_version(shop, locale="de", number=2)
    listed = owner.get(editor()).content.decode()

    page = owner.get(f"{LIST}{old.pk}/change/").content.decode()
    answer = owner.confirm(f"{LIST}{old.pk}/restore/")

    assert f"/backoffice/{LIST}{old.pk}/change/" in listed
    assert "Old" in page
    assert messages_of(answer) == ["Version 1 is used again."]
    assert versions(shop)[-1] == ("de", 3, "restored")


@pytest.mark.usefixtures("renderer")
def test_support_sees_and_previews_and_changes_nothing(shop, support, make_version):
    version = make_version(shop, locale="de")

    assert press(support, "preview", subject="Mine").context["rendered"].subject == "Mine"
    assert 'value="save"' not in support.get(editor()).content.decode()
    for button in ("save", "reset", "send_test"):
        assert press(support, button, to_email="me@example.com").status_code == 403
    assert support.confirm(f"{LIST}{version.pk}/restore/").status_code == 403
    assert versions(shop) == [("de", 1, "saved")]
    with shop.scope():
        assert not OutboxDispatch.objects.exists()


@pytest.mark.parametrize("path", [editor(key="unheard.of"), editor(key="%00")])
def test_editor_of_an_unknown_template_says_so(owner, path):
    page = owner.get(path)

    assert page.status_code == 404
    assert "There is no template" in page.content.decode()


def test_editor_of_what_is_no_locale_does_not_exist(owner):
    assert owner.get(editor("german")).status_code in {302, 404}


@pytest.mark.usefixtures("renderer")
def test_editor_shows_nothing_of_another_shop(other_shop, owner, make_version):
    make_version(other_shop, locale="de", subject="Theirs")

    assert "Theirs" not in owner.get(editor()).content.decode()


@pytest.mark.usefixtures("renderer")
@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_renderer_works(shop, owner, monkeypatch):
    seen = []
    render = renderer_client.render

    def watched(**arguments):
        seen.append(connection.in_atomic_block)
        return render(**arguments)

    monkeypatch.setattr(renderer_client, "render", watched)

    press(owner, "save")
    press(owner, "preview")

    assert seen == [False] * 4
