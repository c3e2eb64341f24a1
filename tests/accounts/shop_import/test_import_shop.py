"""`manage.py import_shop`, from the files of other shop systems to the shop."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.catalog.operations import archive_product
from commerce.customers.models import Customer
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from commerce.inventory.operations import adjust_level, create_location
from tests import factories
from tests.accounts.shop_import.running import (
    SHOPIFY,
    SHOPIFY_CUSTOMERS,
    SHOPIFY_STOCK,
    WOOCOMMERCE,
    counts,
    run,
)
from tests.factories import make_customer
from tests.shops import make_shop
from tests.storefront import checkout_in


def list_stored(shop):
    """Every product, variant, price, level and customer of a shop, with the times of their last change."""
    with shop.scope():
        return [
            list(model.objects.order_by("pk").values())
            for model in (Product, Variant, VariantPricing, InventoryLevel, InventoryAdjustment, Customer)
        ]


def test_products_of_shopify_are_stored_and_sold(shop):
    (row,), messages = run(shop, SHOPIFY)

    assert row == {
        "file": SHOPIFY,
        "content": "Shopify's products",
        "added": 4,
        "changed": 0,
        "unchanged": 0,
        "refused": 0,
        "skipped": 2,
        "left_out": {
            "Vendor": 6, "Type": 6, "Tags": 1, "Variant Fulfillment Service": 8, "Variant Requires Shipping": 8,
            "Variant Barcode": 3, "Image Src": 4, "Image Position": 4, "Variant Weight Unit": 8, "Cost per item": 3,
        },
        "dry_run": False,
    }  # fmt: skip
    assert messages == [
        f"{SHOPIFY}:8: note: It has no SKU and gets briefpapier-probe.",
        f"{SHOPIFY}:10: skipped: kalender-2024 is archived.",
        f"{SHOPIFY}:11: skipped: gutschein is a gift card.",
    ]
    offered = {
        product["handle"]: product for product in shop.storefront.get("products.json").json()["products"]
    }
    assert list(offered) == ["briefpapier-probe", "fuller-kolibri", "notizbuch-feldweg"]
    blue = offered["notizbuch-feldweg"]["variants"][0]
    assert (blue["sku"], blue["title"], blue["weight_grams"]) == ("FW-A5-BLAU", "Blau / A5", 312)
    assert blue["pricing"] == [
        {
            "market_id": str(shop.market.pk),
            "currency": "EUR",
            "price_cents": "1890",
            "compare_at_price_cents": "2200",
        }
    ]
    with shop.scope():
        sold = Variant.objects.get(sku="FW-A5-BLAU")
    order = checkout_in("completed", shop, (sold, 2))
    assert order["totals"]["subtotal_with_tax_cents"] == "3780"
    with shop.scope():
        level = InventoryLevel.objects.get(variant=sold)
    assert (level.on_hand, level.committed) == (24, 2)


def test_same_files_again_change_nothing(shop):
    with shop.scope():
        create_location(fields={"handle": "leipzig", "name": "Lager Leipzig", "priority": 2})
    files = (SHOPIFY, SHOPIFY_STOCK, SHOPIFY_CUSTOMERS)
    first, _ = run(shop, *files)
    stored = list_stored(shop)

    again, _ = run(shop, *files)
    updated, _ = run(shop, *files, "--update")

    assert [counts(row) for row in first] == [[4, 0, 0, 0, 2], [3, 0, 0, 0, 1], [2, 0, 0, 0, 1]]
    assert [counts(row) for row in again] == [[0, 0, 4, 0, 2], [0, 0, 3, 0, 1], [0, 0, 2, 0, 1]]
    assert [counts(row) for row in updated] == [[0, 0, 4, 0, 2], [0, 0, 3, 0, 1], [0, 0, 2, 0, 1]]
    assert list_stored(shop) == stored


def test_dry_run_counts_the_same_and_stores_nothing(shop):
    with shop.scope():
        create_location(fields={"handle": "leipzig", "name": "Lager Leipzig", "priority": 2})
    empty = list_stored(shop)

    rows, messages = run(shop, SHOPIFY, SHOPIFY_STOCK, SHOPIFY_CUSTOMERS, "--dry-run")

    assert [counts(row) for row in rows] == [[4, 0, 0, 0, 2], [3, 0, 0, 0, 1], [2, 0, 0, 0, 1]]
    assert [row["dry_run"] for row in rows] == [True, True, True]
    assert len(messages) == 5
    assert list_stored(shop) == empty


def test_products_of_woocommerce_are_stored(db):
    shop = make_shop(handle="svicky", name="Czechia", currency="CZK", locale="cs-CZ", country_code="CZ")

    (row,), messages = run(shop, WOOCOMMERCE)

    assert counts(row) == [3, 0, 0, 0, 1]
    assert row["content"] == "WooCommerce's products"
    assert messages == [
        f"{WOOCOMMERCE}:7: skipped: A product of the type 'grouped' isn't a single thing to sell.",
        f"{WOOCOMMERCE}:5: note: The stock of SV-LEV-220 is -2, and becomes 0.",
    ]
    with shop.scope():
        prices = VariantPricing.objects.order_by("variant__sku")
        assert list(prices.values_list("variant__sku", "price_cents", "compare_at_price_cents")) == [
            ("KN-01", 42000, None), ("SV-CAJ", 14900, None), ("SV-LEV-120", 32900, 38900), ("SV-LEV-220", 54950, None),
        ]  # fmt: skip
        assert {price.currency for price in prices} == {"CZK"}


def test_what_differs_is_left_alone_unless_it_updates(shop, export):
    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"))
    changed = export("tea,Green tea,S,T-S,shopify,9,9.90\ntea,,M,T-M,shopify,3,12.00\n")

    first, _ = run(shop, changed)
    with shop.scope():
        kept = VariantPricing.objects.get(variant__sku="T-S")
        kept_stock = InventoryLevel.objects.get(variant__sku="T-S")
    second, _ = run(shop, changed, "--update")

    # The variant that was missing is added nevertheless.
    assert [counts(row) for row in (*first, *second)] == [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]
    assert (kept.price_cents, kept_stock.on_hand) == (890, 5)
    with shop.scope():
        assert Product.objects.get().title == "Green tea"
        assert dict(VariantPricing.objects.values_list("variant__sku", "price_cents")) == {
            "T-S": 990,
            "T-M": 1200,
        }
        assert dict(InventoryLevel.objects.values_list("variant__sku", "on_hand")) == {"T-S": 9, "T-M": 3}
        log = InventoryAdjustment.objects.order_by("pk").values_list("delta", "reason")
        assert list(log) == [(5, "received"), (3, "received"), (4, "count")]


def test_second_market_gets_its_prices(shop, export):
    answer = shop.admin.post(
        "markets.json", {"handle": "ch", "name": "Switzerland", "currency": "CHF", "locale": "de-CH", "country_code": "CH"}
    )  # fmt: skip
    assert answer.status_code == 201
    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"), "--market", "de")

    (row,), _ = run(shop, export("tea,Tea,S,T-S,shopify,5,11.50\n"), "--market", "ch")

    assert counts(row) == [0, 1, 0, 0, 0]
    with shop.scope():
        assert sorted(VariantPricing.objects.values_list("currency", "price_cents")) == [
            ("CHF", 1150),
            ("EUR", 890),
        ]
        assert InventoryLevel.objects.get().on_hand == 5


def test_product_with_many_variants_is_stored_whole(shop, export):
    rows = ["tea,Tea,0,T-0,shopify,1,8.90\n", *(f"tea,,{n},T-{n},shopify,1,8.90\n" for n in range(1, 130))]

    (row,), _ = run(shop, export("".join(rows)))

    assert counts(row) == [1, 0, 0, 0, 0]
    with shop.scope():
        assert (
            Variant.objects.count() == InventoryLevel.objects.count() == VariantPricing.objects.count() == 130
        )


def test_archived_products_and_variants_stay_archived(shop, export):
    path = export(
        "tea,Tea,S,T-S,shopify,5,8.90\ncup,Cup,S,CUP-S,shopify,5,1.00\ncup,,M,CUP-M,shopify,5,1.00\n"
    )
    run(shop, path)
    with shop.scope():
        archive_product(product_id=Product.objects.get(handle="tea").pk, now=timezone.now())
        Variant.objects.filter(sku="CUP-M").update(archived_at=timezone.now())

    (row,), _ = run(shop, path, "--update")

    assert counts(row) == [0, 0, 2, 0, 0]
    with shop.scope():
        assert list(Variant.objects.filter(archived_at=None).values_list("sku", flat=True)) == ["CUP-S"]


def test_updated_stock_must_cover_what_is_sold(shop, export):
    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"))
    with shop.scope():
        sold = Variant.objects.get()
    checkout_in("completed", shop, (sold, 4))
    path, err = export("tea,Tea,S,T-S,shopify,3,7.00\n"), StringIO()

    with pytest.raises(CommandError):
        call_command("import_shop", shop.handle, path, "--update", stdout=StringIO(), stderr=err)

    assert err.getvalue().startswith(f"{path}:2: refused: ")
    with shop.scope():
        assert InventoryLevel.objects.get().on_hand == 5
        # The price in the same line isn't changed either.
        assert VariantPricing.objects.get().price_cents == 890


def test_stock_goes_to_the_location_with_its_name(shop):
    with shop.scope():
        for handle in ("leipzig", "berlin"):
            create_location(fields={"handle": handle, "name": handle.title(), "priority": 2})
    run(shop, SHOPIFY)

    with pytest.raises(CommandError, match="3 refused"):
        run(shop, SHOPIFY_STOCK)
    (row,), _ = run(shop, SHOPIFY_STOCK, "--location", "Lager Leipzig=leipzig")

    assert counts(row) == [3, 0, 0, 0, 1]
    with shop.scope():
        levels = InventoryLevel.objects.filter(location__handle="leipzig")
        assert dict(levels.values_list("variant__sku", "on_hand")) == {
            "FW-A5-BLAU": 38,
            "FW-A6-BLAU": 15,
            "00417": 6,
        }


def test_stock_of_what_was_sold_without_any_is_added(shop, tmp_path):
    variant = factories.make_variant(shop, sku="TEA", stock=None, allow_backorder=True)
    checkout_in("completed", shop, (variant, 2))
    with shop.scope():
        name = Location.objects.get().name
    path = tmp_path / "inventory.csv"
    path.write_text(f"Handle,Title,SKU,Location,Available\ntea,Tea,TEA,{name},38\n")

    (first,), _ = run(shop, str(path))
    (second,), _ = run(shop, str(path))

    assert (counts(first), counts(second)) == ([1, 0, 0, 0, 0], [0, 0, 1, 0, 0])
    with shop.scope():
        level = InventoryLevel.objects.get()
    assert (level.on_hand, level.committed) == (38, 2)


def test_stock_that_was_counted_here_is_kept_unless_it_updates(shop):
    with shop.scope():
        location = create_location(fields={"handle": "leipzig", "name": "Lager Leipzig", "priority": 2})
    run(shop, SHOPIFY, SHOPIFY_STOCK)
    with shop.scope():
        variant = Variant.objects.get(sku="00417")
        adjust_level(
            variant_id=variant.pk, location_id=location.pk, delta=-2, reason="damaged", now=timezone.now()
        )
        level = InventoryLevel.objects.filter(variant=variant, location=location)

    run(shop, SHOPIFY_STOCK)
    with shop.scope():
        kept = level.get().on_hand
    (row,), _ = run(shop, SHOPIFY_STOCK, "--update")

    assert kept == 4
    assert counts(row) == [0, 1, 2, 0, 1]
    with shop.scope():
        assert level.get().on_hand == 6


def test_units_counted_here_of_a_variation_without_stock_of_its_own_are_kept(shop, tmp_path):
    path = tmp_path / "woocommerce.csv"
    path.write_text(
        "ID,Type,SKU,Name,Published,Stock,Regular price,Parent,Attribute 1 value(s)\n"
        '1,variable,TEA,Tea,1,9,,,"S, M"\n2,variation,TEA-S,Tea - S,1,parent,8.90,TEA,S\n'
    )
    run(shop, str(path))
    with shop.scope():
        variant, location = Variant.objects.get(), Location.objects.get()
        adjust_level(
            variant_id=variant.pk, location_id=location.pk, delta=6, reason="count", now=timezone.now()
        )

    (row,), _ = run(shop, str(path), "--update")

    assert counts(row) == [0, 0, 1, 0, 0]
    with shop.scope():
        assert (variant.track_inventory, InventoryLevel.objects.get().on_hand) == (True, 6)


def test_customers_are_stored_once(shop):
    known = make_customer(shop, email="Jana.Koehler@example.com", first_name="Johanna")

    (first,), messages = run(shop, SHOPIFY_CUSTOMERS)
    with shop.scope():
        known.refresh_from_db()
    (second,), _ = run(shop, SHOPIFY_CUSTOMERS, "--update")

    assert (counts(first), known.first_name) == ([1, 0, 1, 0, 1], "Johanna")
    assert messages == [f"{SHOPIFY_CUSTOMERS}:4: skipped: It has no email address."]
    assert counts(second) == [0, 1, 1, 0, 1]
    with shop.scope():
        known.refresh_from_db()
        added = Customer.objects.get(email="tomas.novak@example.com")
    assert (known.first_name, known.phone, known.tags) == (
        "Jana", "+49 341 5550123", ["stammkundin", "newsletter"],
    )  # fmt: skip
    assert (added.last_name, added.country_code, added.is_guest) == ("Novák", "CZ", False)


def test_other_shops_stay_as_they_are(shop, other_shop):
    stored = list_stored(other_shop)

    run(shop, SHOPIFY, SHOPIFY_CUSTOMERS)

    assert list_stored(other_shop) == stored


def test_dry_run_counts_stock_of_new_products_as_the_import_does(shop, export, tmp_path):
    """Units at the location of the products and at another, none, of what isn't counted, and of what is refused."""
    with shop.scope():
        create_location(fields={"handle": "leipzig", "name": "Leipzig", "priority": 2})
    products = export(
        "tea,Tea,S,T-S,shopify,5,8.90\ncup,Cup,S,CUP,,,1.00\nbad,,S,BAD,shopify,1,1.00\n"
        "pot,Pot,S,POT,shopify,0,1.00\n"
    )
    rows = ("T-S,Main,6", "T-S,Leipzig,4", "CUP,Leipzig,4", "BAD,Leipzig,4", "POT,Leipzig,0", "POT,Main,3")
    with shop.scope():
        main = Location.objects.get(priority=1).name
    stock = tmp_path / "inventory.csv"
    lines = [f"tea,Tea,{row.replace('Main', main)}\n" for row in rows]
    stock.write_text("".join(["Handle,Title,SKU,Location,Available\n", *lines]))

    def count(*arguments):
        out = StringIO()
        with pytest.raises(CommandError, match=r"^2 refused\. "):
            call_command(
                "import_shop",
                shop.handle,
                products,
                str(stock),
                *arguments,
                "--json",
                stdout=out,
                stderr=StringIO(),
            )
        return [counts(json.loads(line)) for line in out.getvalue().splitlines()]

    dry = count("--dry-run")
    dry_update = count("--dry-run", "--update")

    assert count() == dry == [[3, 0, 0, 1, 0], [2, 0, 3, 1, 0]]
    assert dry_update == [[3, 0, 0, 1, 0], [2, 1, 2, 1, 0]]


def test_stock_goes_to_a_location_that_is_active(shop, export):
    with shop.scope():
        create_location(fields={"handle": "leipzig", "name": "Leipzig", "priority": 2})
        Location.objects.filter(priority=1).update(is_active=False)

    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"))

    with shop.scope():
        assert InventoryLevel.objects.get().location.handle == "leipzig"


def test_people_are_told_what_was_done_and_left_out(shop):
    out = StringIO()

    call_command("import_shop", shop.handle, SHOPIFY_CUSTOMERS, "--dry-run", stdout=out, stderr=StringIO())

    first, second = out.getvalue().splitlines()
    assert first == (
        f"{SHOPIFY_CUSTOMERS}: Shopify's customers: would be added 2, changed 0, unchanged 0, refused 0, skipped 1"
    )
    assert second.startswith(f"{SHOPIFY_CUSTOMERS}: columns that have no place here: Customer ID (3), ")
