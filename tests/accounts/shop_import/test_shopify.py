"""Shopify's exports, as drafts."""

import pytest

from accounts.shop_import import shopify
from accounts.shop_import.drafts import (
    CustomerDraft,
    Problem,
    ProductDraft,
    Refused,
    Skipped,
    StockDraft,
    VariantDraft,
)
from tests.accounts.shop_import.reading import EUR, parse_sample, read

HEADER = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Status\n"


def parse(rows, header=HEADER):
    return list(shopify.parse_products(read(header + rows), EUR))


def test_sample_of_products_is_read_exactly():
    parsed = parse_sample("shopify-products.csv", shopify.parse_products)

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
            line=2,
            handle="notizbuch-feldweg",
            title="Notizbuch Feldweg",
            description="<p>Fadengeheftet, 144 Seiten, <strong>100 g/m²</strong>.</p>\n"
            '<p>Das Papier ist für Füller geeignet, "auch für nasse".</p>',
            status="active",
            variants=(
                variant(2, "FW-A5-BLAU", "Blau / A5", 312, 1890, 2200, 24),
                variant(4, "FW-A6-BLAU", "Blau / A6", 180, 1290, None, 0),
                variant(5, "FW-A5-ROT", "Rot / A5", 312, 1890, None, 7, allow_backorder=True),
            ),
        ),
        ProductDraft(
            line=7,
            handle="fuller-kolibri",
            title="Füller Kolibri",
            description="<p>Stahlfeder in F, mit Konverter.</p>",
            status="active",
            variants=(variant(7, "00417", "", 38, 6400, None, 12),),
        ),
        ProductDraft(
            line=8,
            handle="briefpapier-probe",
            title="Briefpapier zur Probe",
            description="",
            status="active",
            variants=(variant(8, "briefpapier-probe", "", 20, 0, None, None, track_inventory=False),),
            notes=(Problem(8, "It has no SKU and gets briefpapier-probe."),),
        ),
        ProductDraft(
            line=9,
            handle="kalender-2026",
            title="Kalender 2026",
            description="<p>Noch in Arbeit.</p>",
            status="draft",
            variants=(variant(9, "KAL-26", "", 410, 2450, None, 150),),
        ),
        Skipped(10, "kalender-2024 is archived."),
        Skipped(11, "gutschein is a gift card."),
    ]


def test_newer_column_names_mean_the_same():
    header = (
        "Title,URL handle,Description,Published on online store,Status,SKU,Option1 name,Option1 value,Price,"
        "Compare-at price,Charge tax,Inventory tracker,Inventory quantity,Continue selling when out of stock,"
        "Weight value (grams),Gift card\n"
    )

    (product,) = parse(
        "Tea,tea,Green,TRUE,active,T-1,Size,100 g,8.90,9.90,FALSE,shopify,5,TRUE,120,FALSE\n", header
    )

    assert product == ProductDraft(
        line=2,
        handle="tea",
        title="Tea",
        description="Green",
        status="active",
        variants=(
            VariantDraft(
                line=2,
                sku="T-1",
                title="100 g",
                weight_grams=120,
                tax_class="exempt",
                track_inventory=True,
                allow_backorder=True,
                price_cents=890,
                compare_at_price_cents=990,
                stock=5,
            ),
        ),
    )


def test_product_with_one_bad_row_is_refused_as_a_whole():
    parsed = parse(
        "tea,Tea,Size,S,T-S,100,shopify,5,8.90,active\n"
        "tea,,,M,T-M,light,shopify,5,8.90,\n"
        "tea,,,L,T-L,100,shopify,few,8.999,\n"
        "cup,Cup,Title,Default Title,CUP,200,shopify,1,5.00,active\n"
    )

    assert parsed[0] == Refused(
        (Problem(3, "Grams: light isn't a number."), Problem(4, "Quantity: few isn't a number."))
    )
    assert [draft.handle for draft in parsed[1:]] == ["cup"]


def test_rows_of_a_product_that_are_apart_are_refused():
    parsed = parse(
        "tea,Tea,Size,S,T-S,100,shopify,5,8.90,active\n"
        "cup,Cup,Title,Default Title,CUP,200,shopify,1,5.00,active\n"
        "tea,,,M,T-M,100,shopify,5,8.90,\n"
        ",Pot,Title,Default Title,POT,200,shopify,1,5.00,active\n"
    )

    assert parsed[2:] == [
        Refused((Problem(4, "The rows of tea don't follow each other."),)),
        Refused((Problem(5, "It has no handle."),)),
    ]


def test_what_the_merchant_should_know_is_noted():
    (product,) = parse("Über_Tee,Tee,Title,Default Title,T,100,shopify,-3,,active\n")

    assert (product.handle, product.variants[0].stock, product.variants[0].price_cents) == (
        "uber-tee",
        0,
        None,
    )
    assert product.notes == (
        Problem(2, "The handle Über_Tee becomes uber-tee."),
        Problem(2, "The stock of T is -3, and becomes 0."),
        Problem(2, "It has no price, so it can't be sold yet."),
    )


def test_unlisted_product_becomes_a_draft():
    (product,) = parse("tea,Tea,Size,S,T-S,100,shopify,5,8.90,unlisted\n")

    assert product.status == "draft"
    assert product.notes == (Problem(2, "The status unlisted becomes draft."),)


def test_handle_that_is_not_in_utf_8_is_refused():
    header, row = HEADER.encode(), b"\xfc\xfc,Tea,Size,S,T-S,100,shopify,5,8.90,active\n"

    assert list(shopify.parse_products(read(header + row), EUR)) == [
        Refused((Problem(2, "It isn't in UTF-8."),))
    ]


def test_product_without_a_variant_is_refused():
    assert parse("tea,Tea,,,,,,,,active\n") == [Refused((Problem(2, "tea has no variant."),))]


def test_sample_of_stock_is_read_exactly():
    assert parse_sample("shopify-inventory.csv", shopify.parse_stock) == [
        StockDraft(line=2, sku="FW-A5-BLAU", location="Lager Leipzig", on_hand=38),
        StockDraft(line=3, sku="FW-A6-BLAU", location="Lager Leipzig", on_hand=15),
        Skipped(4, "FW-A5-ROT isn't stocked at Lager Leipzig."),
        StockDraft(line=5, sku="00417", location="Lager Leipzig", on_hand=6),
    ]


@pytest.mark.parametrize("column", ["Available", "On hand"])
def test_stock_file_with_one_column_of_units_is_read(column):
    table = read(
        f"Handle,Title,Option1 Value,SKU,Location,{column}\ntea,Tea,100 g,,Shop,4\ntea,Tea,50 g,T,Shop,x\n"
    )

    assert list(shopify.parse_stock(table, EUR)) == [
        StockDraft(line=2, sku="tea-100-g", location="Shop", on_hand=4),
        Refused((Problem(3, "Units: x isn't a number."),)),
    ]


def test_sample_of_customers_is_read_exactly():
    assert parse_sample("shopify-customers.csv", shopify.parse_customers) == [
        CustomerDraft(
            line=2,
            email="jana.koehler@example.com",
            first_name="Jana",
            last_name="Köhler",
            phone="+49 341 5550123",
            country_code="DE",
            tags=("stammkundin", "newsletter"),
        ),
        CustomerDraft(
            line=3,
            email="tomas.novak@example.com",
            first_name="Tomáš",
            last_name="Novák",
            phone="",
            country_code="CZ",
        ),
        Skipped(4, "It has no email address."),
    ]
