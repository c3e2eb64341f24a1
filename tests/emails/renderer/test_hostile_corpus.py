"""Templates that are expensive, hide something or break other renderers: each is answered in time, and so is the next message."""

import time

import pytest

from tests.emails.renderer import patient_conf
from tests.emails.renderer.hostile.liquid_sources import LIQUID_SOURCES
from tests.emails.renderer.hostile.mjml_sources import MJML_SOURCES

REFUSALS = {"template_limit_exceeded", "template_syntax_error", "invalid_mjml", "body_too_large"}


@pytest.mark.parametrize("source", LIQUID_SOURCES.values(), ids=LIQUID_SOURCES)
def test_hostile_liquid_is_answered(post, source):
    assert_answered(post, subject_template=source)


@pytest.mark.parametrize("source", MJML_SOURCES.values(), ids=MJML_SOURCES)
def test_hostile_mjml_is_answered(post, source):
    assert_answered(post, body_source=source)


def assert_answered(post, **fields):
    began = time.monotonic()

    answer = post(**fields)

    assert time.monotonic() - began < patient_conf.timeout
    if answer.status_code != 200:
        assert answer.status_code in {413, 422}
        assert answer.json()["code"] in REFUSALS
    assert b"root:" not in answer.content
    assert post().status_code == 200
