"""Plain JSON is negotiated without DRF, with the same result."""

import pytest
from django.test import RequestFactory
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from commerce.rest.negotiation import Negotiation
from commerce.rest.rendering import JSONObjectParser, JSONRenderer, ProblemRenderer
from commerce.rest.views import SurfaceViewSet

RENDERERS = [JSONRenderer(), ProblemRenderer()]
PARSERS = [JSONObjectParser()]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept": "*/*"},
        {"Accept": "application/json"},
        {"Accept": "application/problem+json"},
        {"Accept": "text/html, application/*;q=0.8"},
    ],
)
def test_renderer_is_the_one_that_drf_chooses(headers):
    request = Request(RequestFactory().get("/", headers=headers))

    chosen = Negotiation().select_renderer(request, RENDERERS)

    assert chosen == DefaultContentNegotiation().select_renderer(request, RENDERERS)


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "text/plain", ""]
)
def test_parser_is_the_one_that_drf_chooses(content_type):
    request = Request(RequestFactory().post("/", b"{}", content_type=content_type))

    chosen = Negotiation().select_parser(request, PARSERS)

    assert chosen is DefaultContentNegotiation().select_parser(request, PARSERS)


def test_instances_are_of_the_classes_that_views_declare():
    view = SurfaceViewSet()

    assert tuple(map(type, view.get_renderers())) == view.renderer_classes
    assert tuple(map(type, view.get_parsers())) == view.parser_classes


def test_every_answer_says_which_methods_there_are_and_that_it_depends_on_accept(shop):
    read = shop.storefront.get("markets.json")
    created = shop.storefront.post("carts.json", {"market_id": shop.market.id})
    token = created.json()["cart"]["token"]
    refused = shop.storefront.put(f"carts/{token}.json", {})

    assert [(answer.status_code, answer["Allow"], answer["Vary"]) for answer in (read, created, refused)] == [
        (200, "GET, HEAD", "Accept"),
        (201, "POST", "Accept"),
        (405, "GET, HEAD", "Accept"),
    ]
