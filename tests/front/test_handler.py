"""What Django's handler does before and after each request."""

import io

import pytest
from django.core.cache import close_caches
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, reset_queries
from django.test import RequestFactory

from config.front.handler import django_application


@pytest.fixture
def application():
    """The application. Afterwards Django's signals are as before."""
    before = {signal: list(signal.receivers) for signal in (request_started, request_finished)}
    yield django_application()
    for signal, receivers in before.items():
        signal.receivers = receivers


@pytest.mark.django_db(transaction=True)
def test_connection_goes_back_to_the_pool_after_the_request(application):
    environ = RequestFactory()._base_environ(PATH_INFO="/healthz", **{"wsgi.input": io.BytesIO()})
    connection.ensure_connection()

    answer = application(environ, lambda *_: None)
    assert connection.connection is not None
    answer.close()

    assert connection.connection is None


def test_requests_do_without_what_has_no_effect(application):
    # Disconnecting tells whether a function was still connected.
    assert not request_started.disconnect(close_old_connections)
    assert not request_started.disconnect(reset_queries)
    assert not request_finished.disconnect(close_caches)
    assert request_finished.disconnect(close_old_connections)
