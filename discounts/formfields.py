"""Form fields for values that the API takes as JSON, with an input for each part."""

from typing import Any

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from .field_rules import MAX_TIERS
from .models import Discount

_MODES = [("", "---------"), *Discount.ValueMode.choices]
_SCOPES = [("line", "Quantity of a line"), ("order", "Quantity of all lines")]
_TIER = ("min_quantity", "value_mode", "value_amount")


def _number(label: str) -> forms.Field:
    return forms.IntegerField(label=label, required=False, widget=UnfoldAdminIntegerFieldWidget())


def _ids(label: str) -> forms.Field:
    return SimpleArrayField(
        forms.IntegerField(), label=label, required=False, widget=UnfoldAdminTextInputWidget()
    )


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.Field:
    return forms.ChoiceField(
        label=label, required=False, choices=choices, widget=UnfoldAdminSelectWidget(choices=choices)
    )


def _target(values: list[Any]) -> dict[str, Any]:
    return _given(("quantity", "product_ids", "variant_ids"), values)


def _given(names: tuple[str, ...], values: list[Any]) -> dict[str, Any]:
    """Return the values that were filled in, by name."""
    return {name: value for name, value in zip(names, values, strict=True) if value not in (None, "", [])}


def _target_parts(target: dict[str, Any]) -> list[str]:
    ids = [",".join(map(str, target.get(name, []))) for name in ("product_ids", "variant_ids")]
    return [*_texts(target, "quantity"), *ids]


def _texts(values: dict[str, Any], *names: str) -> list[str]:
    return ["" if values.get(name) is None else str(values[name]) for name in names]


class PartsWidget(forms.MultiWidget):
    """Inputs that form one JSON object together, each with its own label."""

    def __init__(self, parts: dict[str, forms.Field], template_name: str) -> None:
        self.template_name = template_name
        self.labels = [part.label for part in parts.values()]
        super().__init__([part.widget for part in parts.values()])

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        # Unfold binds a widget to a variable of the page by this attribute, which all parts would inherit.
        self.attrs.pop("x-model.fill", None)
        context = super().get_context(name, value, attrs)
        for part, label in zip(context["widget"]["subwidgets"], self.labels, strict=True):
            part["label"] = label
        return context

    def decompress(self, value: dict[str, Any] | None) -> list[str]:
        raise NotImplementedError


class PartsField(forms.MultiValueField):
    """A JSON object from several inputs. The rules of the operations check it."""

    def __init__(self, parts: dict[str, forms.Field], widget: PartsWidget, **kwargs: Any) -> None:
        fields = list(parts.values())
        super().__init__(fields, widget=widget, required=False, require_all_fields=False, **kwargs)

    def has_changed(self, initial: Any, data: list[str | None] | None) -> bool:
        shown = self.widget.decompress(initial)
        return not self.disabled and shown != [part or "" for part in data or [""] * len(shown)]


class BogoWidget(PartsWidget):
    def decompress(self, value: dict[str, Any] | None) -> list[str]:
        bogo = value or {}
        sides = [_target_parts(bogo.get(side, {})) for side in ("buy", "get")]
        return [*sides[0], *sides[1], *_texts(bogo, "value_mode", "value_amount", "max_applications")]


class BogoField(PartsField):
    def __init__(self) -> None:
        parts = {
            "buy_quantity": _number("Buy: units"),
            "buy_product_ids": _ids("of these products (ids)"),
            "buy_variant_ids": _ids("or variants (ids)"),
            "get_quantity": _number("Get: units"),
            "get_product_ids": _ids("of these products (ids)"),
            "get_variant_ids": _ids("or variants (ids)"),
            "value_mode": _choice("Reduced by", _MODES),
            "value_amount": _number("Amount, in basis points or cents"),
            "max_applications": _number("Times in one order at most"),
        }
        widget = BogoWidget(parts, "discounts/bogo.html")
        super().__init__(parts, widget, label="Buy X, get Y", help_text="Without ids, any product.")

    def compress(self, values: list[Any]) -> dict[str, Any] | None:
        if not any(values):
            return None
        config = _given(("value_mode", "value_amount", "max_applications"), values[6:])
        return config | {"buy": _target(values[:3]), "get": _target(values[3:6])}


class BulkTiersWidget(PartsWidget):
    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        scope, *parts = context["widget"]["subwidgets"]
        rows = [parts[start : start + len(_TIER)] for start in range(0, len(parts), len(_TIER))]
        filled = [
            index
            for index, row in enumerate(rows)
            if any(part["value"] not in (None, "", [""]) for part in row)
        ]
        context["widget"] |= {"scope": scope, "rows": rows, "shown": max(filled, default=0) + 1}
        return context

    def decompress(self, value: dict[str, Any] | None) -> list[str]:
        config = value or {"scope": "line", "tiers": []}
        parts = [text for tier in config["tiers"] for text in _texts(tier, *_TIER)]
        return [config["scope"], *parts, *[""] * (MAX_TIERS * len(_TIER) - len(parts))]


class BulkTiersField(PartsField):
    def __init__(self) -> None:
        parts = {"scope": _choice("Counted", _SCOPES)}
        for number in range(MAX_TIERS):
            parts[f"min_quantity_{number}"] = _number("From units")
            parts[f"value_mode_{number}"] = _choice("each reduced by", _MODES)
            parts[f"value_amount_{number}"] = _number("Amount, in basis points or cents")
        widget = BulkTiersWidget(parts, "discounts/bulk_tiers.html")
        super().__init__(
            parts, widget, label="Tiers", help_text="The highest tier reached applies to all units."
        )

    def compress(self, values: list[Any]) -> dict[str, Any] | None:
        rows = [values[start : start + len(_TIER)] for start in range(1, len(values), len(_TIER))]
        tiers = [tier for row in rows if (tier := _given(_TIER, row))]
        return {"scope": values[0] or "line", "tiers": tiers} if tiers else None
