"""WooCommerce's exports, as drafts."""

import pytest

from accounts.shop_import import woocommerce
from accounts.shop_import.drafts import (
    CustomerDraft,
    Problem,
    ProductDraft,
    Refused,
    Skipped,
    VariantDraft,
)
from tests.accounts.shop_import.reading import EUR, parse_sample, read

COLUMNS = (
    "ID", "Type", "SKU", "Name", "Published", "Date sale price starts", "Date sale price ends", "Tax status",
    "Tax class", "In stock?", "Stock", "Weight (lbs)", "Sale price", "Regular price", "Parent", "Attribute 1 value(s)",
)  # fmt: skip
SIMPLE = {"ID": "7", "Type": "simple", "SKU": "T", "Name": "Tea", "Published": "1", "Regular price": "8.90"}


def parse(*rows):
    lines = [";".join(COLUMNS), *(";".join(row.get(name, "") for name in COLUMNS) for row in rows)]
    return list(woocommerce.parse_products(read("\n".join(lines)), EUR))


def parse_variant(**cells):
    """The draft of a simple product with these cells, and its notes."""
    (product,) = parse(SIMPLE | {name.replace("_", " "): text for name, text in cells.items()})
    return product.variants[0], [note.reason for note in product.notes]


def test_sample_of_products_is_read_exactly():
    parsed = parse_sample("woocommerce-products.csv", woocommerce.parse_products)

    def variant(line, sku, title, grams, price, compare_at, stock, **fields):
        return VariantDraft(
            line=line,
            sku=sku,
            title=title,
            weight_grams=grams,
            price_cents=price,
            compare_at_price_cents=compare_at,
            stock=stock,
            **{"tax_class": "standard", "track_inventory": True, "allow_backorder": False} | fields,
        )

    assert parsed == [
        ProductDraft(
            line=3,
            handle="cajove-svicky-12-ks",
            title="Čajové svíčky, 12 ks",
            description="",
            status="active",
            variants=(variant(3, "SV-CAJ", "", 180, 14900, None, 80),),
        ),
        ProductDraft(
            line=6,
            handle="kniha-o-svickach",
            title="Kniha o svíčkách",
            description="",
            status="draft",
            variants=(
                variant(
                    6, "KN-01", "", 600, 42000, None, None, tax_class="reduced-rate", track_inventory=False
                ),
            ),
        ),
        Skipped(7, "A product of the type 'grouped' isn't a single thing to sell."),
        ProductDraft(
            line=2,
            handle="svicka-levandule",
            title="Svíčka Levandule",
            description="Klid na večer.\n\n<p>Sójový vosk, hoří 40 hodin.</p>\n<p>Knot ze dřeva.</p>",
            status="active",
            variants=(
                variant(4, "SV-LEV-120", "120 ml / Dub", 350, 32900, 38900, 14),
                variant(5, "SV-LEV-220", "220 ml / Korek", 520, 54950, None, 0, allow_backorder=True),
            ),
            notes=(Problem(5, "The stock of SV-LEV-220 is -2, and becomes 0."),),
        ),
    ]


@pytest.mark.parametrize(
    ("starts", "ends", "price", "note"),
    [
        ("", "", (700, 890), []),
        ("2026-11-23", "", (700, 890), []),
        ("2026-11-24", "", (890, None), ["Its sale isn't on today, so it has the regular price."]),
        ("", "2026-11-22", (890, None), ["Its sale isn't on today, so it has the regular price."]),
        (
            "2026-11-01",
            "2026-11-23",
            (700, 890),
            ["Its sale ends on 2026-11-23. Set the regular price then."],
        ),
    ],
)
def test_sale_counts_on_its_days(starts, ends, price, note):
    found, notes = parse_variant(Sale_price="7.00", Date_sale_price_starts=starts, Date_sale_price_ends=ends)

    assert (found.price_cents, found.compare_at_price_cents) == price
    assert notes == note


@pytest.mark.parametrize(
    ("stock", "in_stock", "expected"),
    [("5", "1", (True, 5)), ("", "1", (False, None)), ("", "0", (True, 0)), ("0", "backorder", (True, 0))],
)
def test_stock_that_is_not_counted_is_not_tracked(stock, in_stock, expected):
    found, _ = parse_variant(**{"Stock": stock, "In stock?": in_stock})

    assert (found.track_inventory, found.stock) == expected


@pytest.mark.parametrize(
    ("status", "tax_class", "expected"),
    [
        ("taxable", "", "standard"),
        ("taxable", "zero-rate", "zero-rate"),
        ("none", "", "exempt"),
        ("shipping", "", "exempt"),
    ],
)
def test_tax_class_is_taken_over(status, tax_class, expected):
    found, _ = parse_variant(Tax_status=status, Tax_class=tax_class)

    assert found.tax_class == expected


def test_weight_is_read_in_the_unit_of_its_column():
    found, _ = parse_variant(**{"Weight (lbs)": "2.5"})

    assert found.weight_grams == 1134


def test_variations_share_what_they_leave_empty_and_warn_about_shared_stock():
    parent = SIMPLE | {
        "Type": "variable",
        "SKU": "",
        "Weight (lbs)": "1",
        "Tax class": "reduced-rate",
        "Stock": "9",
    }
    small = SIMPLE | {
        "ID": "8", "Type": "variation", "SKU": "", "Parent": "id:7", "Stock": "parent", "Tax class": "parent",
        "Attribute 1 value(s)": "Small\\, round",
    }  # fmt: skip
    off = small | {"ID": "9", "Published": "0", "Attribute 1 value(s)": "Large"}

    # Variations may come before their product.
    (product,) = parse(small, parent, off)

    (found,) = product.variants
    assert (found.sku, found.title, found.stock) == ("tea-small-round", "Small, round", None)
    assert (found.weight_grams, found.tax_class) == (454, "reduced-rate")
    assert product.notes == (
        Problem(2, "It has no SKU and gets tea-small-round."),
        Problem(2, "tea-small-round shares the stock of its product. It gets none: count its units."),
        Problem(4, "A variation that is switched off isn't taken over."),
    )


def test_products_of_one_name_get_different_handles():
    parsed = parse(SIMPLE, SIMPLE | {"ID": "8", "SKU": "T2"})

    assert [draft.handle for draft in parsed] == ["tea", "tea-8"]


def test_product_with_one_bad_variation_is_refused_as_a_whole():
    parent = SIMPLE | {"Type": "variable"}
    good = SIMPLE | {"ID": "8", "Type": "variation", "SKU": "T-1", "Parent": "T"}
    bad = good | {"ID": "9", "SKU": "T-2", "Regular price": "free"}
    lost = good | {"ID": "10", "SKU": "C-1", "Parent": "CUP"}

    assert parse(parent, good, bad, lost) == [
        Refused((Problem(4, "Regular price: free isn't a number."),)),
        Refused((Problem(5, "Its product 'CUP' isn't in the file."),)),
    ]


def test_variations_of_a_draft_are_taken_over():
    parent = SIMPLE | {"Type": "variable", "Published": "-1"}
    # WooCommerce exports them as drafts too, and as 0 if they are switched off.
    variation = SIMPLE | {"ID": "8", "Type": "variation", "SKU": "T-1", "Parent": "T", "Published": "-1"}

    (product,) = parse(parent, variation)

    assert (product.status, [variant.sku for variant in product.variants]) == ("draft", ["T-1"])


def test_second_product_with_the_sku_of_another_is_refused():
    parent = SIMPLE | {"Type": "variable"}
    variation = SIMPLE | {"ID": "8", "Type": "variation", "SKU": "T-1", "Parent": "T"}

    refused, product = parse(parent, parent | {"ID": "9", "Name": "Cup"}, variation)

    assert refused == Refused((Problem(3, "The product T is on line 2 already."),))
    assert product.title == "Tea"


def test_line_ends_are_decoded():
    assert woocommerce._decode_lines(r"one\ntwo\\nthree") == "one\ntwo\\nthree"


def test_sample_of_customers_is_read_exactly():
    assert parse_sample("woocommerce-customers.csv", woocommerce.parse_customers) == [
        CustomerDraft(
            line=2,
            email="eliska.dvorakova@example.com",
            first_name="Eliška",
            last_name="Dvořáková",
            phone="",
            country_code="CZ",
        ),
        CustomerDraft(
            line=3,
            email="peter.kovac@example.com",
            first_name="Peter",
            last_name="Kováč",
            phone="",
            country_code="SK",
        ),
    ]
