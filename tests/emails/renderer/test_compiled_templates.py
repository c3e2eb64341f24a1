"""Templates compiled once look the same as when they are compiled for each message."""

import copy
import re
from html import unescape

import pytest

from accounts.models import Account
from commerce.mail import email_folders
from emails.own_templates.samples import load_sample_ctx
from emails.renderer.compiled_templates import render_compiled
from emails.renderer.limits import MAX_HTML_CHARACTERS
from emails.renderer.liquid_templates import render_html
from emails.renderer.mjml_compiler import compile_mjml
from emails.renderer.plain_text import extract_text
from emails.renderer.problems import Problem, TemplateLimitExceeded
from emails.template_sources import COMPILED_ONCE, load_platform_templates, prepare_rendering

MJML = "<mjml><mj-body><mj-section><mj-column>{}</mj-column></mj-section></mj-body></mjml>"


@pytest.mark.parametrize("key", sorted(COMPILED_ONCE))
@pytest.mark.parametrize("locale", ["cs", "de", "en"])
def test_sample_looks_the_same(key, locale):
    assert compare(key, locale, load_sample_ctx(key)) is None


@pytest.mark.parametrize("key", sorted(COMPILED_ONCE))
def test_any_variation_looks_the_same(key):
    found = [(name, compare(key, "en", ctx)) for name, ctx in vary(load_sample_ctx(key))]

    assert [(name, difference) for name, difference in found if difference] == []
    # The fields of the sample, and what they hold.
    assert len(found) > 20


def test_only_templates_of_the_platform_are_compiled_once():
    account = Account(name="Hats", default_timezone="UTC", default_locale="en")
    templates = load_platform_templates()

    marked = {
        key
        for key, by_locale in templates.items()
        if all(prepare_rendering(one, {}, account=account).is_compiled_once for one in by_locale.values())
    }

    assert marked == COMPILED_ONCE <= set(email_folders())


def test_liquid_in_an_attribute_is_rendered_for_each_message():
    body = MJML.format('<mj-button href="{{ base }}/{{ path }}?a={{ a }}">{{ label }}</mj-button>')

    rendered = [
        render_compiled(
            body, {"base": base, "path": "p", "a": '"', "label": "<Go>"}, preheader=None, field="b"
        )
        for base in ("https://a.test", "https://b.test")
    ]

    assert [re.findall('<a href="(.*?)"', html) for html in rendered] == [
        ["https://a.test/p?a=&#34;"],
        ["https://b.test/p?a=&#34;"],
    ]
    assert all("&lt;Go&gt;" in html for html in rendered)


def test_each_message_has_its_own_preheader():
    body = MJML.format("<mj-text>{{ name }}</mj-text>")

    first, second, none = (
        render_compiled(body, {"name": "Ann"}, preheader=preheader, field="b")
        for preheader in ("1 < 2", "{{ name }}", None)
    )

    assert ">1 &lt; 2</div>" in first
    # A preheader has been rendered already, and isn't Liquid any more.
    assert ">{{ name }}</div>" in second
    assert none.count("<div") == first.count("<div") - 1
    assert "preheader" not in first + second + none


def test_nul_is_left_out_and_the_size_limited():
    body = MJML.format("<mj-text>{{ text }}</mj-text>")

    assert ">ab</div>" in render_compiled(body, {"text": "a\0b"}, preheader=None, field="b")
    with pytest.raises(TemplateLimitExceeded):
        render_compiled(body, {"text": "x" * MAX_HTML_CHARACTERS}, preheader=None, field="b")


def compare(key, locale, ctx):
    """What differs between the two ways, as a short text from each, or None."""
    account = Account(name="Hats & Co", default_timezone="UTC", default_locale="en")
    request = prepare_rendering(load_platform_templates()[key][locale], ctx, account=account)
    assert request.is_compiled_once
    variables = {"locale": request.locale, **request.ctx}
    once, each = (
        attempt(way, request.body_source, variables) for way in (render_compiled, render_and_compile)
    )
    if once == each:
        return None
    start = next((i for i, (a, b) in enumerate(zip(once, each, strict=False)) if a != b), 0)
    return once[start - 60 : start + 100], each[start - 60 : start + 100]


def attempt(way, body, variables):
    try:
        html = way(body, variables, preheader="Thank you & bye", field="body_source")
    except Problem as problem:
        return str(problem)
    # Beside tags and at the end of a title, white space isn't shown; entities are written in several ways.
    shown = re.sub(r"\s*(<[^>]*>)\s*", r"\1", re.sub(r"\s+", " ", unescape(html))).replace(' "', '"')
    return shown + extract_text(html)


def render_and_compile(body, variables, *, preheader, field):
    html = render_html(body, variables, field=field)
    return compile_mjml(html, preheader=preheader, is_trusted=True, wants_warnings=False).html


def vary(sample):
    """The sample with each of its values replaced in turn, and with nothing at all."""
    yield "nothing", {}
    for path, value in walk(sample):
        others = ([], value * 2) if isinstance(value, list) else (None, "0", "12345", "<b>&", True)
        for other in others:
            ctx = copy.deepcopy(sample)
            parent = ctx
            for name in path[:-1]:
                parent = parent[name]
            parent[path[-1]] = other
            yield f"{path} = {other!r}", ctx


def walk(value, path=()):
    if path:
        yield path, value
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, child in children:
        yield from walk(child, (*path, name))
