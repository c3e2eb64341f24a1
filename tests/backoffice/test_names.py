"""What columns and models are called on pages, in English."""

import pytest

from commerce.backoffice.names import list_names, spell


@pytest.mark.parametrize(
    ("derived", "shown"),
    [
        ("sku", "SKU"),
        ("cod fee cents", "cash on delivery fee cents"),
        ("is active", "active"),
        ("is cod compatible", "can be paid on delivery"),
        ("compare at price cents", "compare-at price cents"),
        ("voucher redemptions", "gift card redemptions"),
        ("placed at", "placed at"),
    ],
)
def test_name_is_written_as_people_do(derived, shown):
    assert spell(derived) == shown


def test_no_shown_name_is_an_abbreviation_in_small_letters():
    words = {word for name, _ in list_names() for word in name.split()}

    assert (
        words & {"sku", "Sku", "cod", "Cod", "url", "Url", "ids", "html", "ctx", "zip", "Zip", "bogo"}
        == set()
    )
    assert {"SKU", "URL", "HTML"} <= words
