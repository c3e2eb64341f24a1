"""What the settings of a discount's type say, where they can't be edited."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import groupby
from typing import Any

from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext
from unfold.decorators import display

from commerce.backoffice.display import format_count
from commerce.backoffice.forms import get_column, read_column
from commerce.backoffice.locales import current_locale
from commerce.backoffice.picks import Choices

from .amounts import choose_measure, find_currency
from .evaluation import Choice, Group, Ids, Number, list_ids
from .formfields import Path, find_mode_path, label_choices, list_inputs, read_at
from .models import Discount
from .picks import KINDS


# Must be the same function each time, because Django compares read-only fields with the page's.
@cache
def make_config_column(name: str, visible: frozenset[str]) -> Callable[[Discount], str]:
    """Return a column that shows a config as sentences. `visible` are the kinds of rows that it may name."""

    @display(description=capfirst(get_column(Discount, name).verbose_name))
    def column(discount: Discount) -> str:
        config, group = getattr(discount, name), discount.mechanic.config
        if config is None or group is None or discount.mechanic.column != name:
            return "-"
        lines = ((line,) for line in _list_lines(discount, config, group, visible))
        return format_html_join("", "<div>{}</div>", lines)

    return column


def _list_lines(
    discount: Discount, config: dict[str, Any], group: Group, visible: frozenset[str]
) -> Iterator[str]:
    """Yield a line for each object in the config, without what is empty."""
    choices = {
        kind: Choices(
            KINDS[kind], is_visible=kind in visible, list_ids=partial(_list_ids, config, group, kind)
        )
        for kind in KINDS
    }
    for _parent, inputs in groupby(list_inputs(group), key=lambda each: each[0][:-1]):
        values = ((part, _show(discount, config, path, part, choices)) for path, part in inputs)
        line = "; ".join(f"{gettext(part.label)}: {value}" for part, value in values if value)
        if line:
            yield line


def _list_ids(config: dict[str, Any], group: Group, kind: str) -> Iterator[int]:
    for name, _path, ids in list_ids(group, config, ""):
        if name == kind:
            yield from ids


def _show(
    discount: Discount,
    config: dict[str, Any],
    path: Path,
    part: Number | Choice | Ids,
    choices: dict[str, Choices],
) -> str:
    value = read_at(config, path)
    if value is None:
        return ""
    match part:
        case Ids():
            return ", ".join(map(choices[part.name].title, value))
        case Choice():
            return str(dict(label_choices(part)).get(value, value))
        case Number() if part.is_value:
            currency = partial(find_currency, partial(read_column, discount))
            return choose_measure(read_at(config, find_mode_path(path)), currency).format(
                value, current_locale()
            )
    return format_count(value)
