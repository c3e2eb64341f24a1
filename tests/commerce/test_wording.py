"""Texts of refusals: English for everybody, and translatable for staff."""

import pytest
from django.utils import translation

from commerce.backoffice.wordings import translate
from commerce.wording import BasisPoints, Cents, Choice, Wording

SUBTOTAL = Wording(
    "The subtotal of %(subtotal)s is below the minimum of %(minimum)s.",
    subtotal=Cents(500),
    minimum=Cents(1000),
)
STATUS = Wording("The discount is %(status)s.", status=Choice("disabled"))


def test_wording_is_english_text():
    assert SUBTOTAL == "The subtotal of 500 cents is below the minimum of 1000 cents."
    assert Wording("Must be at most %(bound)s.", bound=BasisPoints(10_000)) == (
        "Must be at most 10000, which is 100 %."
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The discount is disabled."),
        ("de", "Der Rabatt hat den Status Deaktiviert."),
        ("cs", "Sleva je ve stavu Deaktivováno."),
    ],
)
def test_choice_in_a_wording_is_shown_by_its_label(language, text):
    with translation.override(language):
        assert translate(STATUS) == text


def test_amounts_in_a_wording_are_shown_as_the_reader_writes_them():
    with translation.override("de"):
        shown = translate(SUBTOTAL, lambda value: f"{value / 100:.2f} EUR")

    assert shown == "Die Zwischensumme von 5.00 EUR liegt unter dem Mindestwert von 10.00 EUR."


def test_text_without_a_translation_stays_as_it_is():
    with translation.override("de"):
        assert translate("No such text.") == "No such text."
        assert translate("") == ""
