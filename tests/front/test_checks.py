"""Checks of the proxy and the database role at the start of an installation."""

import os
import subprocess
import sys

import psycopg
import pytest
from django.conf import settings as project

from config.front.checks import check_places, check_proxy, check_timeouts


def ids(messages):
    return [message.id for message in messages]


@pytest.fixture
def behind_a_proxy(settings):
    settings.BASE_URL = "https://shop.example"
    settings.IS_HTTPS = True
    settings.BEHIND_TLS_PROXY = True
    settings.ALLOWED_HOSTS = ["shop.example"]


def test_complete_settings_pass(behind_a_proxy):
    assert check_proxy() == []


def test_https_without_a_trusted_proxy_is_found(behind_a_proxy, settings):
    settings.BEHIND_TLS_PROXY = False

    assert ids(check_proxy()) == ["front.W001"]


@pytest.mark.parametrize("hosts", [["localhost"], [".other.example"], []])
def test_host_that_would_be_refused_is_found(behind_a_proxy, settings, hosts):
    settings.ALLOWED_HOSTS = hosts

    assert ids(check_proxy()) == ["front.W002"]


@pytest.mark.parametrize("hosts", [["*"], [".example"], ["localhost", "shop.example"]])
def test_host_that_is_served_passes(behind_a_proxy, settings, hosts):
    settings.ALLOWED_HOSTS = hosts

    assert check_proxy() == []


def test_default_places_fit_the_connections():
    assert check_places() == []


def test_more_threads_than_connections_are_found(settings):
    pool = project.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    settings.WEB_THREADS = pool - sum(settings.WEB_CALLS.values()) + 1

    assert ids(check_places()) == ["front.W004"]


def test_kind_of_call_without_a_place_is_found(settings):
    settings.WEB_CALLS = settings.WEB_CALLS | {"vat": 0}

    (message,) = check_places()

    assert message.id == "front.E001"
    assert message.msg.startswith("VAT_CALLS_AT_ONCE is 0")


def test_web_server_says_so_as_it_starts():
    done = subprocess.run(
        [sys.executable, "-c", "import config.rsgi"],
        cwd=project.BASE_DIR,
        env=os.environ | {"BASE_URL": "https://shop.example"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "BEHIND_TLS_PROXY is off" in done.stderr


@pytest.mark.django_db
def test_role_with_time_outs_passes():
    assert check_timeouts(databases=["default"]) == []


@pytest.mark.django_db
def test_role_whose_time_out_is_gone_is_found():
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as superuser:
        superuser.execute("ALTER ROLE commerce_app RESET lock_timeout")
        try:
            found = ids(check_timeouts(databases=["default"]))
        finally:
            superuser.execute("ALTER ROLE commerce_app SET lock_timeout = '10s'")

    assert found == ["front.W003"]
