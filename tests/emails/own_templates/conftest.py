"""The production renderer, and an account's own templates."""

import pytest

from emails import renderer_client
from emails.own_templates.models import EmailTemplateVersion
from tests.backoffice.conftest import owner, support  # noqa: F401  fixtures
from tests.emails.renderer.conftest import MJML, renderer_service, renderer_url  # noqa: F401  fixtures
from tests.problems import problem

KEY = "order.confirmation"
PATH = f"email/templates/{KEY}"


def body(**fields):
    """Build a request body to save a template that renders."""
    return {
        "subject": "Order {{ order.number }}",
        "body_source": MJML.format("Hello {{ order.shipping_address.first_name }}"),
        "expected_version": 0,
    } | fields


@pytest.fixture
def renderer(settings, renderer_url):  # noqa: F811  the fixture
    settings.RENDERER_URL = renderer_url
    yield
    renderer_client._open_pools.clear()


@pytest.fixture
def no_renderer(settings):
    settings.RENDERER_URL = "http://127.0.0.1:9"


def versions(shop):
    """Return locale, number and kind of every version of the shop."""
    with shop.scope():
        rows = EmailTemplateVersion.objects.order_by("pk")
        return list(rows.values_list("locale", "number", "kind"))


def states(client):
    """Return the source of the current template and its last version, by key and locale."""
    rows = client.get("email/templates.json").json()["email_templates"]
    return {(row["template_key"], row["locale"]): (row["source"], row["version"]) for row in rows}


def template_error(answer):
    """Return the part of a refused template, the error and its line."""
    assert problem(answer) == (422, "template_invalid")
    (error,) = answer.json()["errors"]
    return error["field"], error["code"], answer.json().get("line")
