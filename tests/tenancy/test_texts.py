"""Texts of all kinds and lengths arrive as they were sent."""

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.errors import DataError

from commerce.tenancy.statements import Prepared, send

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = Prepared("SELECT %s::text")
ANY = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
texts = st.text(ANY | st.sampled_from("'\\$\"%;"))
property_test = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@property_test
@given(texts)
def test_any_text_arrives_as_it_was_sent(text):
    [sent] = send(TEXT.call([text]))

    assert sent.rows == [(text,)]


@property_test
@given(texts.filter(bool))
def test_long_texts_arrive_as_they_were_sent(text):
    text = text * 1001

    [sent] = send(TEXT.call([text]))

    assert sent.rows == [(text,)]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_cannot_be_stored_fails_whatever_its_length(text):
    connection.ensure_connection()
    errors = []
    for sent in (text, text + 1001 * "a"):
        with pytest.raises((DataError, UnicodeEncodeError)) as raised:
            connection.connection.run([TEXT.call([sent])])
        errors.append((type(raised.value), str(raised.value).partition(":")[0]))

    assert errors[0] == errors[1]
