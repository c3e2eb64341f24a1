"""Amounts, percentages and weights are read and written exactly, in every locale and currency."""

from contextlib import suppress

import pytest
from babel import Locale, localedata
from babel.numbers import list_currencies
from django.http import HttpRequest
from django.utils.translation import get_language_from_request
from hypothesis import given
from hypothesis import strategies as st

from commerce.backoffice.locales import choose_locale
from commerce.backoffice.measures import Money, NotReadable, Percentage, Weight

EN, DE, CS, FR, CH, IN = (Locale.parse(name) for name in ("en", "de", "cs", "fr", "de_CH", "en_IN"))
LOCALES = st.sampled_from(sorted(localedata.locale_identifiers())).map(Locale.parse)
CURRENCIES = st.sampled_from(sorted(list_currencies()))
VALUES = st.integers(-(10**15), 10**15)
SAMPLE = [Locale.parse(name) for name in ("en", "de", "cs", "fr", "de_CH", "ar_EG", "hi", "fa", "pl", "pt")]


@given(VALUES, CURRENCIES, LOCALES)
def test_amount_that_is_shown_in_an_input_is_read_back(cents, currency, locale):
    assert Money(currency).parse(Money(currency).render(cents, locale), locale) == cents


def test_amount_is_read_back_in_every_currency_and_locale():
    every = [Locale.parse(name) for name in sorted(localedata.locale_identifiers())]
    pairs = [(Money(currency), locale) for currency in list_currencies() for locale in SAMPLE]
    pairs += [(Money(currency), locale) for currency in ("EUR", "CZK", "JPY", "KWD") for locale in every]
    for money, locale in pairs:
        for cents in (0, 5, -1990, 123_456_789):
            assert money.parse(money.render(cents, locale), locale) == cents, (money, locale)


@given(st.integers(0, 10**12), st.sampled_from(["EUR", "CZK", "JPY", "USD", "CHF", "INR"]))
def test_amount_that_is_copied_from_a_page_is_read_back(cents, currency):
    for locale in SAMPLE:
        assert Money(currency).parse(Money(currency).format(cents, locale), locale) == cents


@given(VALUES, LOCALES)
def test_percentage_and_weight_are_read_back(value, locale):
    for measure in (Percentage(), Weight()):
        assert measure.parse(measure.render(value, locale), locale) == value
        assert measure.parse(measure.format(value, locale), locale) == value


@given(st.text(max_size=20), LOCALES, CURRENCIES)
def test_any_text_is_read_or_refused(text, locale, currency):
    for measure in (Money(currency), Percentage(), Weight()):
        with suppress(NotReadable):
            assert type(measure.parse(text, locale)) is int


@pytest.mark.parametrize(
    ("text", "currency", "locale", "cents"),
    [
        ("12.50", "EUR", EN, 1250),
        ("12,50", "EUR", EN, 1250),
        ("12.50", "EUR", DE, 1250),
        ("12,5", "EUR", DE, 1250),
        ("12", "EUR", DE, 1200),
        (".5", "EUR", EN, 50),
        ("0,05", "EUR", CS, 5),
        ("1 234,50 €", "EUR", EN, 123_450),
        ("1\u00a0234,50\u00a0€", "EUR", CS, 123_450),
        ("1\u202f234,50 €", "EUR", FR, 123_450),
        ("1,234.50", "EUR", DE, 123_450),
        ("1.234,50", "EUR", EN, 123_450),
        ("1,234", "EUR", EN, 123_400),
        ("1.234", "EUR", DE, 123_400),
        ("1.234.567", "EUR", EN, 123_456_700),
        ("12,34,567.50", "INR", IN, 123_456_750),
        ("CHF-1\u2019234\u2019567.00", "CHF", CH, -123_456_700),
        ("EUR 5", "EUR", EN, 500),
        ("5 eur", "EUR", EN, 500),
        ("\u22125", "EUR", EN, -500),
        ("0.00", "JPY", EN, 0),
        ("100 Kč", "CZK", CS, 10_000),
        ("1000", "JPY", EN, 1000),
        ("1,000", "JPY", EN, 1000),
        ("¥1,000", "JPY", EN, 1000),
        ("1.5", "KWD", EN, 1500),
        ("1.250", "KWD", EN, 1250),
        ("1,250", "KWD", DE, 1250),
        ("1,250.000", "KWD", EN, 1_250_000),
        ("\u0661\u0662\u066b\u0665", "EUR", Locale("ar"), 1250),
    ],
)
def test_amount_is_read_as_people_write_it(text, currency, locale, cents):
    assert Money(currency).parse(text, locale) == cents


@pytest.mark.parametrize(
    ("text", "currency", "locale", "message"),
    [
        ("12.505", "EUR", EN, "Amounts in EUR have at most two decimals."),
        ("12.000", "EUR", EN, "Amounts in EUR have at most two decimals."),
        ("0,500", "EUR", EN, "Amounts in EUR have at most two decimals."),
        ("12.5", "JPY", EN, "Amounts in JPY have no decimals."),
        ("12.5000", "KWD", EN, "Amounts in KWD have at most three decimals."),
        ("1.250", "KWD", DE, "This could be two numbers. Write it without a separator of thousands."),
        ("1.250", "EUR", CS, "This could be two numbers. Write it without a separator of thousands."),
        ("5 USD", "EUR", EN, "This amount is in USD, not in EUR."),
        ("$5", "EUR", EN, "Enter a number."),
        ("", "EUR", EN, "Enter a number."),
        ("-", "EUR", EN, "Enter a number."),
        ("5-", "EUR", EN, "Enter a number."),
        ("1e3", "EUR", EN, "Enter a number."),
        ("1,23,4", "EUR", EN, "Enter a number."),
        ("1.2.3", "EUR", EN, "Enter a number."),
        ("1,,5", "EUR", EN, "Enter a number."),
        ("12.34,567.8", "EUR", EN, "Enter a number."),
        ("²", "EUR", EN, "Enter a number."),
        ("9" * 61, "EUR", EN, "Enter a number."),
    ],
)
def test_what_is_no_amount_is_refused_with_the_reason(text, currency, locale, message):
    with pytest.raises(NotReadable) as refused:
        Money(currency).parse(text, locale)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("measure", "text", "locale", "value"),
    [
        (Percentage(), "10 %", EN, 1000),
        (Percentage(), "7.5%", EN, 750),
        (Percentage(), "7,25 %", DE, 725),
        (Percentage(), "0.01", DE, 1),
        (Weight(), "500", EN, 500),
        (Weight(), "500g", EN, 500),
        (Weight(), "1,2 kg", DE, 1200),
        (Weight(), "0,500 kg", EN, 500),
        (Weight(), "1,000 g", EN, 1000),
        (Weight(), "2 KG", EN, 2000),
    ],
)
def test_percentages_and_weights_are_read_as_people_write_them(measure, text, locale, value):
    assert measure.parse(text, locale) == value


@pytest.mark.parametrize(
    ("measure", "text", "message"),
    [
        (Percentage(), "7.125 %", "Percentages have at most two decimals."),
        (Percentage(), "ten", "Enter a number."),
        (Weight(), "1.2345 kg", "Weights have at most three decimals in kg."),
        (Weight(), "0.5", "Weights in g have no decimals."),
        (Weight(), "1.2 lb", "Enter a number."),
        (Weight(), "1,250 kg", "This could be two numbers. Write it without a separator of thousands."),
    ],
)
def test_what_is_no_percentage_or_weight_is_refused_with_the_reason(measure, text, message):
    with pytest.raises(NotReadable) as refused:
        measure.parse(text, EN)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("measure", "value", "locale", "shown", "formatted"),
    [
        (Money("EUR"), 123_450, EN, "1234.50", "€1,234.50"),
        (Money("EUR"), 123_450, DE, "1234,50", "1.234,50\u00a0€"),
        (Money("JPY"), 1000, EN, "1000", "¥1,000"),
        (Money("KWD"), 5, EN, "0.005", "KWD0.005"),
        (Percentage(), 1000, EN, "10 %", "10 %"),
        (Percentage(), 750, DE, "7,5 %", "7,5 %"),
        (Weight(), 999, EN, "999 g", "999 g"),
        (Weight(), 1250, DE, "1,25 kg", "1,25 kg"),
        (Weight(), 2000, EN, "2 kg", "2 kg"),
    ],
)
def test_values_are_written_for_inputs_and_for_people(measure, value, locale, shown, formatted):
    assert (measure.render(value, locale), measure.format(value, locale)) == (shown, formatted)


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        ("", "en"),
        ("de-AT,de;q=0.9,en;q=0.5", "de_AT"),
        ("cs", "cs"),
        ("*", "en"),
        ("tlh-AA, fr;q=0.5", "fr"),
        ("en-US,en;q=0.5", "en_US"),
        ("x" * 10_000, "en"),
        ("de;q=0.1,cs;q=0.9", "cs"),
    ],
)
def test_locale_is_the_first_that_the_browser_asks_for(header, locale):
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = header
    language = get_language_from_request(request)

    assert str(choose_locale(header, language)) == locale


@pytest.mark.parametrize(
    ("header", "language", "is_chosen", "locale"),
    [
        ("fr-FR,de-AT;q=0.8", "de", False, "de_AT"),
        ("en-US,de-CH;q=0.1", "de", True, "de_CH"),
        ("en-US", "de", True, "de"),
        ("de-AT", "en", True, "en"),
        ("fr-FR", "en", False, "fr_FR"),
    ],
)
def test_locale_belongs_to_the_language_of_the_texts(header, language, is_chosen, locale):
    assert str(choose_locale(header, language, is_chosen=is_chosen)) == locale
