"""Whatever it is sent, the service answers in time, refuses with a code, stays within its memory and goes on working.

A longer search, by hand: pytest --hypothesis-profile=long --timeout=0 tests/emails/renderer/test_fuzz.py
"""

import re
import time
from pathlib import Path

import orjson
import pytest
import requests
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from emails.renderer import liquid_templates
from emails.renderer.limits import MAX_WORKER_MEMORY_BYTES
from tests.emails.renderer import patient_conf
from tests.emails.renderer.conftest import MJML

# A worker that takes longer is killed, and its client gets no answer.
PATIENCE_S = patient_conf.timeout
REFUSALS = {400, 413, 415, 422, 503}
FUZZED = settings(
    max_examples=max(60, settings.default.max_examples),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
RESIDENT = re.compile(r"VmRSS:\s+(\d+) kB")


@pytest.fixture(scope="module", autouse=True)
def stays_within_its_memory(renderer_service):
    """After all tests of this module that this process ran: the order of single tests differs between processes."""
    yield
    resident = [resident_bytes(process) for process in workers_of(renderer_service.process_id)]
    assert resident
    assert max(resident) < MAX_WORKER_MEMORY_BYTES


def called(name, arguments):
    return f" | {name}: {', '.join(arguments)}" if arguments else f" | {name}"


LITERALS = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["nil", "true", "blank", "empty", "''", '"<b>"', "'%Y'", "(1..9)", "(1..99999999)", "-0"]
    ),
    st.text('abc <>&"%{}|:\x00\u2028é😀', max_size=8).map(lambda text: orjson.dumps(text).decode()),
)
NAMES = st.sampled_from(
    [
        "a",
        "a.b",
        "a[0]",
        "a['b'].c",
        "locale",
        "now",
        "forloop.index",
        "__class__",
        "a.size",
        "a[a[a]]",
        "9a",
        "é",
    ]
)
VALUES = st.one_of(NAMES, LITERALS)
# By the number of arguments that they take. Below, any filter is tried with any number as well.
ARITIES = {
    0: "abs capitalize ceil compact country date datetime downcase escape first floor join last newline_to_br reverse "
    "round size sort squish strip strip_html sum truncate uniq upcase url_decode base64_decode split",
    1: "append at_least at_most concat date default divided_by find has map minus modulo money plus prepend reject "
    "remove slice sort split times truncate truncatewords where",
    2: "find replace replace_first slice truncate where",
}
ANY_FILTER = st.sampled_from(sorted({*liquid_templates._HTML.filters, "safe", "nothing"}))
FILTERS = st.one_of(
    *(
        st.builds(called, st.sampled_from(names.split()), st.lists(VALUES, min_size=number, max_size=number))
        for number, names in ARITIES.items()
    ),
    st.builds(called, ANY_FILTER, st.lists(VALUES, max_size=3)),
)
EXPRESSIONS = st.builds(
    lambda value, filters: value + "".join(filters), VALUES, st.lists(FILTERS, max_size=3)
)
CONDITIONS = st.builds(
    lambda left, operator, right: f"{left} {operator} {right}",
    VALUES,
    st.sampled_from(["==", "!=", ">", "contains", "and", "or", "<>", "=~"]),
    VALUES,
)
TAG_NAMES = """
    mj-section mj-column mj-text mj-table mj-button mj-image mj-raw mj-style mj-include mj-head mj-attributes mj-wrapper
    mj-group mj-hero mj-carousel mj-accordion mj-navbar mj-social mj-spacer mj-divider mj-preview mj-body mjml mj-font
    mj-breakpoint mj-html-attributes mj-unknown div style script table br ![CDATA[ !-- ?xml
"""
TEXTS = st.text(max_size=12)


def blocks(inner):
    """Wrap templates in blocks, some of which are left open or closed twice."""
    body = st.lists(inner, max_size=3).map("".join)
    return st.one_of(
        st.builds("{{% if {} %}}{}{{% else %}}{}{{% endif %}}".format, CONDITIONS, body, body),
        st.builds("{{% unless {} %}}{}{{% endunless %}}".format, CONDITIONS, body),
        st.builds("{{% for a in {} %}}{}{{% endfor %}}".format, VALUES, body),
        st.builds("{{% tablerow a in {} cols: {} %}}{}{{% endtablerow %}}".format, VALUES, VALUES, body),
        st.builds("{{% case {} %}}{{% when {} %}}{}{{% endcase %}}".format, VALUES, VALUES, body),
        st.builds("{{% capture a %}}{}{{% endcapture %}}".format, body),
        st.builds("{{% raw %}}{}{{% endraw %}}{{% comment %}}{}{{% endcomment %}}".format, body, body),
        st.builds("{{% if {} %}}{}".format, CONDITIONS, body),
        st.builds("{}{{% endfor %}}{{% break %}}".format, body),
        st.builds(lambda tag, attribute, text: f"<{tag} {attribute}>{text}</{tag}>", TAGS, ATTRIBUTES, body),
    )


TAGS = st.sampled_from(TAG_NAMES.split())
ATTRIBUTES = st.sampled_from(
    [
        "",
        'href="{{ a }}"',
        'src="file:///etc/passwd"',
        'path="/etc/passwd"',
        'width="{{ a }}px" padding="1px 2"',
        'inline="inline"',
        'css-class="a b"',
        'font-size="10000000000000px"',
        "a=\"'\" b='\"' c",
        'columns-x="" background-url="url(x)"',
    ]
)
LEAVES = st.one_of(
    TEXTS,
    EXPRESSIONS.map("{{{{ {} }}}}".format),
    EXPRESSIONS.map("{{% assign a = {} %}}".format),
    st.sampled_from(
        [
            "{% cycle 'a', a %}",
            "{% increment a %}",
            "{{",
            "%}",
            "{% liquid\nassign a = 1\necho a %}",
            "{% render 'x' %}",
        ]
    ),
)
TEMPLATES = st.recursive(LEAVES, blocks, max_leaves=12)
CONTEXTS = st.dictionaries(
    st.sampled_from(["a", "b", "locale", "now", "", "é"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False), TEXTS),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["b", "c"]), inner, max_size=2)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def ask(renderer_url):
    """Send bytes, and assert what must be true of every answer."""
    with requests.Session() as session:

        def send(body: bytes) -> requests.Response:
            began = time.monotonic()
            headers = {"Content-Type": "application/json"}
            answer = session.post(
                f"{renderer_url}/render", data=body, headers=headers, timeout=2 * PATIENCE_S
            )
            assert time.monotonic() - began < PATIENCE_S
            if answer.status_code != 200:
                assert answer.status_code in REFUSALS, answer.content
                assert answer.headers["Content-Type"] == "application/problem+json"
                assert answer.json()["code"] not in {"", "internal_error"}
            return answer

        yield send


@FUZZED
@given(
    field=st.sampled_from(
        ["body_source", "wrapped", "subject_template", "preheader_template", "body_text_template"]
    ),
    template=TEMPLATES,
    ctx=CONTEXTS,
)
def test_any_template_is_rendered_or_refused(ask, field, template, ctx):
    is_wrapped = field == "wrapped"
    message = {
        "source_format": "mjml",
        "body_source": MJML.replace("{}", template if is_wrapped else "{{ a }}"),
        "subject_template": "{{ a }}",
        "ctx": ctx,
        "locale": "en",
    } | ({} if is_wrapped else {field: template})

    answer = ask(as_json(message))

    event(f"{answer.status_code} {answer.json().get('code', '')}")
    if answer.status_code == 200:
        shown = answer.json()
        assert shown.keys() == {"html", "text", "subject", "preheader", "warnings"}
        assert not set("\r\n") & set(shown["subject"])


@FUZZED
@given(
    message=st.dictionaries(
        st.sampled_from(
            ["source_format", "body_source", "subject_template", "ctx", "locale", "body_text_template"]
        ),
        st.one_of(TEXTS, st.none(), st.integers(-(2**62), 2**62), st.lists(TEXTS, max_size=2), CONTEXTS),
    )
)
def test_any_document_is_answered(ask, message):
    ask(as_json(message))


@FUZZED
@given(
    body=st.one_of(
        st.binary(max_size=200), st.text('{}[]",:0129.eE-ntfalsu\\ud8', max_size=60).map(str.encode)
    )
)
def test_any_bytes_are_answered(ask, body):
    assert ask(body).status_code in REFUSALS


def as_json(message):
    # Lone surrogates can't be encoded as UTF-8.
    return orjson.dumps(clean(message))


def clean(value):
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case list():
            return [clean(part) for part in value]
        case dict():
            return {clean(name): clean(part) for name, part in value.items()}
    return value


def workers_of(process_id):
    tasks = Path(f"/proc/{process_id}/task/{process_id}/children").read_text()
    return [int(child) for child in tasks.split()]


def resident_bytes(process_id):
    (kilobytes,) = RESIDENT.findall(Path(f"/proc/{process_id}/status").read_text())
    return int(kilobytes) * 1024
