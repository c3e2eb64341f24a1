"""Forms that know the rules of the API's fields, and that can show what the database has refused."""

from typing import Any

from django import forms
from django.db import DataError, IntegrityError, models
from django.http import HttpRequest
from rest_framework import serializers

from commerce.errors import Refusal
from commerce.rest import fields as rest
from commerce.rest.problems import as_refusal

# A field of this name has the same rule in every model, here as over REST.
_RULES: dict[str, serializers.Field] = {
    "handle": rest.HandleField(),
    "currency": rest.CurrencyField(),
    "default_currency": rest.CurrencyField(),
    "country_code": rest.CountryField(),
    "locale": rest.LocaleField(),
    "default_locale": rest.LocaleField(),
    "default_timezone": rest.TimeZoneField(),
    "domain": rest.DomainField(),
    "carrier": rest.TokenField(),
    "service_code": rest.TokenField(),
    "rate_bp": rest.IntegerField(max_value=10_000),
}
_CENTS = rest.CentsField()
_UNITS = {"_cents": "In minor units: 1990 is 19.90.", "_bp": "In basis points: 1900 is 19 %."}


class RuledModelForm(forms.ModelForm):
    """A model form with the API's rules; with a `refusal` it is invalid and shows that."""

    refusal: Refusal | None = None

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        for name in list(cleaned):
            rule = _CENTS if name.endswith("_cents") else _RULES.get(name)
            if rule is not None and cleaned[name] not in self.fields[name].empty_values:
                self._apply(name, rule)
        if self.refusal is not None:
            self._show(self.refusal)
        return self.cleaned_data

    def _apply(self, name: str, rule: serializers.Field) -> None:
        try:
            self.cleaned_data[name] = rule.run_validation(self.cleaned_data[name])
        except serializers.ValidationError as error:
            self.add_error(name, [str(detail) for detail in error.detail])

    def _show(self, refusal: Refusal) -> None:
        if not refusal.errors:
            self.add_error(None, refusal.detail)
        for error in refusal.errors:
            if error.field in self.fields:
                self.add_error(error.field, error.detail)
            else:
                self.add_error(None, f"{error.field}: {error.detail}")


class RuledFields:
    """For model admins and inlines: forms with the API's rules, and the unit of a number beside it."""

    form = RuledModelForm

    def formfield_for_dbfield(
        self, db_field: models.Field, request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field is not None and not field.help_text:
            field.help_text = next((_UNITS[end] for end in _UNITS if db_field.name.endswith(end)), "")
        return field


class BrokenRule(Refusal):
    """A constraint or a type of the database that no other refusal stands for."""

    status = 409
    code = "broken_rule"
    title = "The shop's data does not allow this"


def refusal_of(error: Exception) -> Refusal:
    """What to tell staff about a write that was refused; an error that is a bug is raised again."""
    refusal = as_refusal(error)
    if refusal is not None:
        return refusal
    if isinstance(error, IntegrityError):
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        return BrokenRule(f"The shop's data does not allow this: {constraint}.")
    if isinstance(error, DataError):
        return BrokenRule("A value has a form that can't be stored.")
    raise error
