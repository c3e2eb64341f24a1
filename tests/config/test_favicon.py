"""The icon in the browser's tab."""

from django.contrib.staticfiles import finders
from django.test import Client


def test_icon_that_browsers_ask_for_exists():
    answer = Client().get("/favicon.ico")

    assert (answer.status_code, answer["Location"]) == (302, "/static/backoffice/favicon.svg")
    assert finders.find("backoffice/favicon.svg")


def test_back_office_names_its_icon(db):
    page = Client().get("/backoffice/login/").text

    assert '<link rel="icon" href="/static/backoffice/favicon.svg" type="image/svg+xml"' in page
