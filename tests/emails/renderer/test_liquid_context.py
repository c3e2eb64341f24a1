"""The quicker forms of python-liquid's classes write what its own write, and stop where its own stop."""

import pytest
from liquid import BoundTemplate
from liquid.exceptions import LiquidError, LocalNamespaceLimitError

from emails.renderer import liquid_templates
from emails.renderer.limits import MAX_LOCAL_NAMESPACE_BYTES, MAX_OUTPUT_BYTES


class Plain(liquid_templates._SandboxedEnvironment):
    template_class = BoundTemplate


VARIABLES = {
    "text": "é<b>",
    "empty_text": "",
    "half": "\ud83d",
    "key": "first",
    "number": 1,
    "list": [10, {"first": "own", "size": None}, "x"],
    "object": {"size": "own", "last": 0, "a b": {"é": [1, 2]}, "1": "one"},
    "nothing": {},
    "now": "mine",
    "forloop": {"index": "mine"},
    "all": "x" * MAX_OUTPUT_BYTES,
    "most": "x" * (MAX_OUTPUT_BYTES - 100),
}
TEMPLATES = [
    "{{ text }}{{ text.size }}|{{ text.first }}|{{ text[0] }}|{{ text['é'] }}|{{ missing }}|{{ missing.a.b }}",
    "{{ list.size }}|{{ list.first }}|{{ list.last }}|{{ list[-1] }}|{{ list[9] }}|{{ list['0'] }}|{{ list[key] }}",
    "{{ list[1].first }}|{{ list[1].size }}|{{ list[1].last }}|{{ list[1][list] }}|{{ list[1][missing] }}",
    "{{ object.size }}|{{ object.first }}|{{ object.last }}|{{ object['a b'].é[1] }}|{{ object[1] }}|{{ object['1'] }}",
    "{{ nothing }}|{{ nothing.size }}|{{ nothing.first }}|{{ nothing.last }}|{{ number.size }}|{{ number[0] }}",
    "{{ ['text'] }}|{{ [key] }}|{{ [number] }}|{{ [list] }}|{{ [missing] }}|{{ [object.last] }}|{{ ['a b'] }}",
    "{{ now }}{{ forloop.index }}{% for now in list %}{{ now }}{{ forloop.index }}{{ forloop.x }}{% endfor %}{{ now }}",
    "{% increment list %}{% decrement n %}{{ n }}{{ list.size }}{% assign n = 'local' %}{{ n }}{% increment n %}{{ n }}",
    "{% for i in (1..3) %}{% tablerow j in list cols: 2 %}{{ tablerowloop.col }}{{ j[key] }}{% endtablerow %}{% endfor %}",
    "{% for i in list %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{% cycle i, text %}{% endfor %}{% endfor %}",
    "{% capture c %}{{ text }}\r\n{% capture d %}{{ text }}\r{% endcapture %}{{ d }}{% endcapture %}{{ c }}{{ c.size }}",
    "{% case list.size %}{% when nothing.size, 3 %}{{ empty_text }}{% assign nothing = list %}{% endcase %}{{ nothing[0] }}",
    "{{ half }}",
    "{% capture c %}{{ half }}{% endcapture %}",
    "{{ all }}{{ empty_text }}",
    "{{ all }}x",
    "{{ most }}" + "x" * 98 + "é",
    "{{ most }}" + "x" * 99 + "é",
    "{{ most }}{% capture c %}" + "x" * 100 + "{% endcapture %}{{ c.size }}",
    "{{ most }}{% capture c %}" + "x" * 101 + "{% endcapture %}",
    "{% capture c %}{{ most }}{% capture d %}" + "x" * 101 + "{% endcapture %}{% endcapture %}",
    "{% assign a = all %}",
    "{% assign a = most %}{% assign a = most %}{% assign a = 1 %}{% assign b = most %}{{ b.size }}",
    "{% assign a = most %}" + "{% assign b = 1 %}" * 9 + "{% assign c = 1 %}{% assign d = 'x' %}",
    "{% for i in (1..100) %}{% for j in (1..101) %}{% endfor %}{% endfor %}",
]


def render(environment, source):
    try:
        return environment.from_string(source).render(VARIABLES)
    except (LiquidError, UnicodeEncodeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("escapes", [True, False])
@pytest.mark.parametrize("source", TEMPLATES)
def test_templates_do_the_same_as_with_the_library(source, escapes):
    ours = liquid_templates._HTML if escapes else liquid_templates._TEXT

    found = render(ours, source)

    assert found == render(Plain(autoescape=escapes), source)


def test_reused_format_of_a_date_leaves_the_limit_of_the_variables():
    # Python keeps a format that isn't ASCII in a second encoding, as long as the text lives.
    form = "%é" * (MAX_LOCAL_NAMESPACE_BYTES // 10)
    reused = "{% for i in (1..20) %}{% assign a = form | append: i %}{{ '2026-01-02' | date: a | size }} {% endfor %}"
    kept = "".join(f"{{% assign kept_{number} = form | append: '{number}' %}}" for number in range(6))

    with pytest.raises(LocalNamespaceLimitError):
        liquid_templates._TEXT.from_string(reused + kept).render({"form": form})
