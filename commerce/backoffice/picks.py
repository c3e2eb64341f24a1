"""Pick lists: inputs for the ids of rows, which staff choose by name.

Chosen rows are checkboxes, so that they can be removed by keyboard, and without JavaScript. A search adds others; so does
a text with one key, such as a SKU, per line.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import get_select2_language
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.widgets import CHECKBOX_CLASSES, TEXTAREA_CLASSES

from commerce.formats import parse_id

from .display import StrOrPromise

# Of a kind that is usually few, such as markets: up to this many are all shown, without a search.
MOST_LISTED = 30
# The most keys in one text, as many as the longest list of ids has.
MOST_TYPED = 1000
# Before a key among ids.
_TYPED = "="
# The end of the name of the input for keys.
_KEYS = "_keys"


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows that a pick list offers. The page of the model searches them, and names them by `title_choice`.

    `keys` are columns by which rows are typed, each with the condition on rows that are found by it.
    """

    model: type[Model]
    keys: Mapping[str, Q]
    keys_label: StrOrPromise
    normalise: Callable[[str], str] = str.strip
    is_usually_few: bool = False

    @property
    def page(self) -> Any:
        return admin.site.get_model_admin(self.model)

    def is_visible_to(self, request: HttpRequest) -> bool:
        """Whether the member may see these rows. Others see ids, and can only remove them."""
        return self.page.has_view_permission(request)

    def find_titles(self, rows: QuerySet) -> dict[int, str]:
        """Return the rows' titles by id, with one statement."""
        page = self.page
        return {row.pk: page.title_choice(row) for row in join_shown(page, rows)}


def join_shown(page: Any, rows: QuerySet) -> QuerySet:
    """Read with the rows what their titles need of other tables."""
    joined = page.list_select_related
    return rows.select_related(*joined) if isinstance(joined, list | tuple) else rows


class Choices:
    """What the pick lists of one kind show in one form. One statement reads it for all of them, when it is first needed.

    `list_ids` returns all ids that the form shows.
    """

    def __init__(self, kind: Kind, *, is_visible: bool, list_ids: Callable[[], Iterable[int]]) -> None:
        self.kind = kind
        self.is_visible = is_visible
        self.list_ids = list_ids

    @cached_property
    def listed(self) -> dict[int, str]:
        """The titles of all rows of the shop by id, sorted; empty unless they are few."""
        if not self.is_visible or not self.kind.is_usually_few:
            return {}
        rows = self._rows.order_by("pk")[: MOST_LISTED + 1]
        titles = self.kind.find_titles(rows)
        return {} if len(titles) > MOST_LISTED else dict(sorted(titles.items(), key=lambda each: each[1]))

    @cached_property
    def titles(self) -> dict[int, str]:
        """The titles of the shown rows that exist, by id."""
        others = set(self.list_ids()) - self.listed.keys() if self.is_visible else set()
        return (
            self.listed | self.kind.find_titles(self._rows.filter(pk__in=others)) if others else self.listed
        )

    def title(self, row_id: int) -> str:
        if not self.is_visible:
            return f"{row_id}"
        return self.titles.get(row_id) or _("%(id)s (deleted)") % {"id": row_id}

    def find_deleted(self, ids: Iterable[int]) -> list[int]:
        """Return the ids of no row of the shop; none if the member may not know."""
        return [row_id for row_id in ids if row_id not in self.titles] if self.is_visible else []

    def find_by_keys(self, keys: Iterable[str]) -> list[int]:
        """Return the ids of rows by what somebody typed, such as their SKUs.

        Raises `ValidationError` that names the keys of no row.
        """
        wanted = {self.kind.normalise(key): key for key in keys}
        if not self.is_visible:
            raise forms.ValidationError(_("Your role in this shop doesn't allow this."), code="not_allowed")
        if len(wanted) > MOST_TYPED:
            raise forms.ValidationError(
                _("At most %(most)s lines.") % {"most": MOST_TYPED}, code="max_length"
            )
        found: dict[str, int] = {}
        for column, condition in self.kind.keys.items():
            # PostgreSQL has no NUL in texts.
            left = [key for key in wanted if key not in found and "\0" not in key]
            if left:
                rows = self._rows.filter(condition, **{f"{column}__in": left}).order_by("-pk")
                found |= dict(rows.values_list(column, "pk"))
        missing = [typed for key, typed in wanted.items() if key not in found]
        if missing:
            raise forms.ValidationError(
                _("Not found: %(keys)s.") % {"keys": ", ".join(missing[:20])}, code="not_found"
            )
        return [found[key] for key in wanted]

    @property
    def _rows(self) -> QuerySet:
        return self.kind.model._default_manager.all()


class PickWidget(forms.Widget):
    """The value is a list of ids as texts, in which a key that was typed begins with `=`."""

    template_name = "backoffice/pick.html"
    # Set by the form that shows it.
    choices: Choices
    label: StrOrPromise = ""

    def format_value(self, value: object) -> list[str]:
        if value is None or value == "":
            return []
        return [str(each) for each in value] if isinstance(value, Sequence) else [str(value)]

    def get_context(self, name: str, value: object, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        widget, choices = context["widget"], self.choices
        values = widget["value"]
        chosen = [text for text in values if not text.startswith(_TYPED)]
        # Unfold's condition for showing an input reads a variable of the page, which a list of checkboxes can't set.
        widget["variable"] = widget["attrs"].pop("x-model.fill", None)
        options = list(dict.fromkeys([*map(str, choices.listed), *chosen]))
        widget |= {
            "label": self.label,
            "options": [(text, self._title(text), text in chosen) for text in options],
            "has_chosen": bool(chosen),
            "searches": choices.is_visible and not choices.listed,
            "is_hidden": not choices.is_visible,
            "address": reverse("admin:autocomplete"),
            "model": choices.kind.model._meta,
            "language": get_select2_language(),
            "keys_name": name + _KEYS,
            "keys_label": choices.kind.keys_label,
            "keys": "\n".join(text.removeprefix(_TYPED) for text in values if text.startswith(_TYPED)),
            "checkbox_classes": " ".join(CHECKBOX_CLASSES),
            "text_classes": " ".join(TEXTAREA_CLASSES),
        }
        return context

    def _title(self, text: str) -> str:
        row_id = parse_id(text)
        return text if row_id is None else self.choices.title(row_id)

    def value_from_datadict(self, data: Any, files: object, name: str) -> list[str]:
        # A script joins the ids, as Django takes a limited number of inputs (backoffice/pick.js).
        sent = [part.strip() for text in data.getlist(name) for part in text.split(",")]
        lines = [line.strip() for line in data.get(name + _KEYS, "").splitlines()]
        return list(dict.fromkeys([*filter(None, sent), *(_TYPED + line for line in lines if line)]))

    def value_omitted_from_data(self, data: object, files: object, name: str) -> bool:
        # Unticked checkboxes aren't sent.
        return False

    @property
    def media(self) -> forms.Media:
        language = get_select2_language()
        vendor = "admin/js/vendor"
        translations = [f"{vendor}/select2/i18n/{language}.js"] if language else []
        return forms.Media(
            js=[
                f"{vendor}/jquery/jquery.min.js",
                f"{vendor}/select2/select2.full.min.js",
                *translations,
                "admin/js/jquery.init.js",
                "admin/js/autocomplete.js",
                "backoffice/pick.js",
            ],
            css={"screen": ["admin/css/vendor/select2/select2.min.css", "admin/css/autocomplete.css"]},
        )


class PickField(forms.Field):
    """A list of ids. Its form calls `choose_from` before it is shown or cleaned."""

    widget = PickWidget
    choices: Choices

    def __init__(self, *, label: StrOrPromise, **options: Any) -> None:
        super().__init__(required=False, label=label, **options)
        self.widget.label = label

    def choose_from(self, choices: Choices) -> None:
        self.choices = self.widget.choices = choices

    def to_python(self, value: Sequence[str] | None) -> list[int]:
        texts = list(value or [])
        ids = [parse_id(text) for text in texts if not text.startswith(_TYPED)]
        keys = [text.removeprefix(_TYPED) for text in texts if text.startswith(_TYPED)]
        known = [row_id for row_id in ids if row_id is not None]
        if len(known) < len(ids):
            raise forms.ValidationError(_("Select valid choices."), code="invalid")
        return list(dict.fromkeys([*known, *(self.choices.find_by_keys(keys) if keys else ())]))

    def has_changed(self, initial: Sequence[int] | None, data: Sequence[str] | None) -> bool:
        # The order of the ids means nothing.
        return not self.disabled and set(map(str, initial or [])) != set(data or [])


def list_ids(value: object) -> Iterator[int]:
    """Yield the ids in the value of a pick list, as stored or as sent."""
    for each in value if isinstance(value, list | tuple) else ():
        row_id = each if isinstance(each, int) else parse_id(str(each))
        if row_id is not None:
            yield row_id
