"""The language of each page, and of what must stay English."""

import re

import pytest
from django.test import Client

from accounts.models import User
from commerce.backoffice.models import StaffAction
from tests import factories
from tests.backoffice.clients import ROOT, make_staff

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9"}


def language_of(page):
    return re.search(r'<html lang="([^"]*)"', page.content.decode())[1]


@pytest.mark.parametrize(
    ("header", "chosen", "language"),
    [
        ("", "", "en"),
        ("de-AT,de;q=0.9", "", "de"),
        ("cs", "", "cs"),
        ("fr", "", "en"),
        ("de", "cs", "cs"),
        ("de", "en", "en"),
    ],
)
def test_page_is_in_the_chosen_language_or_else_the_browsers(shop, owner, header, chosen, language):
    User.objects.filter(pk=owner.user.pk).update(language=chosen)

    page = owner.browser.get(ROOT, HTTP_ACCEPT_LANGUAGE=header)

    assert language_of(page) == language


@pytest.mark.parametrize("path", ["login/", "password-reset/", "invitation/"])
def test_pages_before_the_log_in_are_in_the_browsers_language(db, path):
    assert language_of(Client(**GERMAN).get(ROOT + path)) == "de"


def test_language_is_chosen_on_the_persons_own_page(shop, owner):
    answer = owner.post("security/", {"action": "language", "language": "cs"})

    assert answer.status_code == 302
    assert User.objects.get(pk=owner.user.pk).language == "cs"
    assert language_of(owner.get()) == "cs"
    owner.post("security/", {"action": "language", "language": ""})
    assert language_of(owner.get()) == "en"


def test_unknown_language_is_refused(shop, owner):
    answer = owner.post("security/", {"action": "language", "language": "tlh"})

    assert list(answer.context["language_form"].errors) == ["language"]
    assert User.objects.get(pk=owner.user.pk).language == ""


def test_api_answers_in_english_whatever_the_client_asks_for(shop):
    bodies = [
        shop.admin.post("locations.json", {}, accept_language=language).json()
        for language in ("en", "de", "cs")
    ]

    assert bodies[0]["title"] == "The request has fields that can't be accepted"
    assert {error["detail"] for error in bodies[0]["errors"]} == {"This field is required."}
    assert [without_instance(body) for body in bodies] == [without_instance(bodies[0])] * 3


def without_instance(body):
    return {name: value for name, value in body.items() if name not in {"instance", "request_id"}}


def test_log_is_kept_in_english_and_shown_in_the_readers_language(shop):
    owner = make_staff(shop, **GERMAN)
    product = factories.make_product(shop, title="Mug")

    owner.fill(f"catalog/product/{product.pk}/change/", title="Cup")

    with shop.scope():
        action = StaffAction.objects.get()
    assert action.summary == "changed Title"
    assert action.changes == [{"field": "title", "before": "Mug", "after": "Cup"}]
