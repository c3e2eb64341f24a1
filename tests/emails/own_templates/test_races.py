"""Concurrent changes of one template, with real threads."""

import pytest
from django.db import connection

from emails import renderer_client
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
