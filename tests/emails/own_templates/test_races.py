"""Concurrent changes of one template, with real threads."""

from threading import Barrier

import pytest
from django.db import connection

from emails import renderer_client
from emails.own_templates import operations
from tests.emails.own_templates.conftest import (
    PATH,
    body,
    versions,
)
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.usefixtures("renderer")
def test_of_templates_saved_at_once_for_one_version_one_is_kept(shop, settings):
    # These tests aren't about the limit of requests waiting for the renderer.
    settings.WEB_CALLS = settings.WEB_CALLS | {"preview": 12}
    answers = run_threads(6, lambda index: shop.admin.put(f"{PATH}/de.json", body(subject=f"Number {index}")))

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert {answer.json()["current_version"] for answer in answers if answer.status_code == 409} == {1}
    assert versions(shop) == [("de", 1, "saved")]
    (won,) = [answer.json()["email_template"] for answer in answers if answer.status_code == 200]
    assert shop.admin.get(f"{PATH}/de.json").json()["email_template"] == won


@pytest.mark.usefixtures("renderer")
def test_of_templates_saved_at_once_for_the_last_locale_one_is_kept(
    shop, settings, make_version, monkeypatch
):
    settings.WEB_CALLS = settings.WEB_CALLS | {"preview": 12}
    monkeypatch.setattr(operations, "MAX_LOCALES", 2)
    make_version(shop, locale="de")
    rendered = Barrier(2)
    render_draft = operations.render_draft

    def render_together(**arguments):
        # Both have found room for one more locale by now.
        draft = render_draft(**arguments)
        rendered.wait(timeout=30)
        return draft

    monkeypatch.setattr(operations, "render_draft", render_together)

    answers = run_threads(2, lambda index: shop.admin.put(f"{PATH}/{('fr', 'it')[index]}.json", body()))

    assert sorted(answer.status_code for answer in answers) == [200, 422]
    (refused,) = [answer.json() for answer in answers if answer.status_code == 422]
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [("locale", "too_many")]
    assert len(versions(shop)) == 2


def test_of_resets_at_once_one_is_written(shop, make_version):
    make_version(shop, locale="de")

    answers = run_threads(6, lambda _: shop.admin.delete(f"{PATH}/de.json"))

    assert {answer.status_code for answer in answers} <= {200, 409}
    assert versions(shop) == [("de", 1, "saved"), ("de", 2, "reset")]


@pytest.mark.usefixtures("renderer")
def test_no_transaction_is_open_while_the_renderer_works(shop, monkeypatch):
    seen = []
    render = renderer_client.render

    def watched(**arguments):
        seen.append(connection.in_atomic_block)
        return render(**arguments)

    monkeypatch.setattr(renderer_client, "render", watched)

    shop.admin.put(f"{PATH}/de.json", body())
    shop.admin.post(f"{PATH}/de/preview.json", {})

    assert seen == [False, False]
