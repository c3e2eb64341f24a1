"""What `manage.py import_shop` refuses: products, customers, files and arguments."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.customers.models import Customer
from tests.accounts.shop_import.running import SHOPIFY, run


def test_refused_products_are_named_by_line_and_the_others_stored(shop, export):
    path = export(
        "tea,Tea,S,T-S,shopify,5,8.90\n"
        "tea,,M,T-M,shopify,5,8.9999\n"
        f"cup,{'C' * 256},S,CUP,shopify,5,1.00\n"
        f"pot,Pot,S,{'P' * 65},shopify,5,1.00\n"
        "jug,Jug,S,JUG,shopify,5,1.00\n"
        "jar,Jar,S,JUG,shopify,5,1.00\n"
    )
    err = StringIO()

    with pytest.raises(CommandError, match=r"^4 refused\. "):
        call_command("import_shop", shop.handle, path, stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [
        f"{path}:3: refused: Price: 8.9999 has more than 2 decimals.",
        f"{path}:4: refused: title: Ensure this field has no more than 255 characters.",
        f"{path}:5: refused: sku: Ensure this field has no more than 64 characters.",
        f"{path}:7: refused: The SKU JUG is on line 6 already.",
    ]
    with shop.scope():
        assert list(Product.objects.values_list("handle", flat=True)) == ["jug"]
        assert list(Variant.objects.values_list("sku", flat=True)) == ["JUG"]


def test_sku_of_another_product_is_refused_with_all_of_its_product(shop, export):
    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"))
    path = export("cup,Cup,S,CUP,shopify,5,1.00\ncup,,M,T-S,shopify,5,1.00\n")
    err = StringIO()

    with pytest.raises(CommandError):
        call_command("import_shop", shop.handle, path, stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [f"{path}:2: refused: Another variant has this SKU."]
    with shop.scope():
        assert Product.objects.count() == Variant.objects.count() == 1


def test_line_of_a_variant_past_the_first_hundred_is_named(shop, export):
    rows = [f"tea,{'' if n else 'Tea'},{n},T-{n},shopify,1,8.90\n" for n in range(130)]
    rows[120] = f"tea,,120,{'T' * 65},shopify,1,8.90\n"
    path, err = export("".join(rows)), StringIO()

    with pytest.raises(CommandError):
        call_command("import_shop", shop.handle, path, stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [
        f"{path}:122: refused: sku: Ensure this field has no more than 64 characters."
    ]
    with shop.scope():
        assert Product.objects.count() == Variant.objects.count() == 0


def test_products_whose_handles_become_the_same_are_not_mixed(shop, export):
    path = export("uber-tee,Tea,S,T-S,shopify,5,8.90\nÜber-Tee,Cup,M,CUP,shopify,5,1.00\n")
    err = StringIO()

    with pytest.raises(CommandError, match=r"^1 refused\. "):
        call_command("import_shop", shop.handle, path, stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [f"{path}:3: refused: The handle uber-tee is on line 2 already."]
    with shop.scope():
        assert list(Variant.objects.values_list("product__title", "sku")) == [("Tea", "T-S")]


def test_bad_customers_are_refused_and_the_others_stored(shop, tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text(
        "First Name,Last Name,Email,Country Code\nA,B,no address,DE\nC,D,c@example.com,XX\nE,F,e@example.com,DE\n"
    )
    err = StringIO()

    with pytest.raises(CommandError, match="2 refused"):
        call_command("import_shop", shop.handle, str(path), stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [
        f"{path}:2: refused: email: Enter a valid email address.",
        f"{path}:3: refused: country_code: Not an ISO 3166 country code.",
    ]
    with shop.scope():
        assert list(Customer.objects.values_list("email", flat=True)) == ["e@example.com"]


def test_file_that_breaks_off_keeps_the_products_before(shop, export):
    path = export('tea,Tea,S,T-S,shopify,5,8.90\ncup,Cup,S,CUP,shopify,5,1.00\ncup,,"M')
    out = StringIO()

    with pytest.raises(CommandError) as refused:
        call_command("import_shop", shop.handle, path, stdout=out, stderr=StringIO())

    assert (
        str(refused.value) == f"{path}: Line 4 is not CSV: unexpected end of data."
        " Correct it and repeat: what has been imported isn't imported again."
    )
    assert out.getvalue().splitlines()[0] == (
        f"{path}: Shopify's products: added 1, changed 0, unchanged 0, refused 0, skipped 0"
    )
    with shop.scope():
        assert list(Product.objects.values_list("handle", flat=True)) == ["tea"]


def test_file_that_breaks_off_keeps_the_customers_before(shop, tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text('First Name,Last Name,Email\nA,B,a@example.com\nC,D,c@example.com\nE,"F')

    with pytest.raises(CommandError, match=r"Line 4 is not CSV"):
        run(shop, str(path))

    with shop.scope():
        assert sorted(Customer.objects.values_list("email", flat=True)) == ["a@example.com", "c@example.com"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no-such.csv"], "no-such.csv can't be read: No such file or directory."),
        ([SHOPIFY, "--market", "fr"], "There is no market 'fr'."),
        ([SHOPIFY, "--location", "Lager=paris"], "There is no location 'paris'."),
    ],
)
def test_wrong_arguments_are_refused(shop, arguments, reason):
    with pytest.raises(CommandError) as refused:
        run(shop, *arguments)

    assert str(refused.value) == reason
    with shop.scope():
        assert Product.objects.count() == 0


def test_unknown_file_is_refused_before_anything_is_imported(shop, export):
    unknown = export("", header="Artikelnummer,Name,Preis\n")

    with pytest.raises(CommandError) as refused:
        run(shop, SHOPIFY, unknown)

    assert str(refused.value) == (
        f"{unknown}: It isn't an export of Shopify or WooCommerce that is known, with column names in English."
        " Nothing was imported."
    )
    with shop.scope():
        assert Product.objects.count() == 0


def test_market_must_be_named_if_there_are_several(shop):
    body = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}
    assert shop.admin.post("markets.json", body).status_code == 201

    with pytest.raises(CommandError) as refused:
        run(shop, SHOPIFY)

    assert str(refused.value) == "Name the market of the prices with --market. There are: de, at."


def test_archived_market_need_not_be_told_from_the_only_active_one(shop, export):
    body = {"handle": "at", "name": "Austria", "currency": "EUR", "locale": "de-AT", "country_code": "AT"}
    market = shop.admin.post("markets.json", body).json()["market"]
    assert shop.admin.delete(f"markets/{market['id']}.json").status_code == 200

    run(shop, export("tea,Tea,S,T-S,shopify,5,8.90\n"))

    with shop.scope():
        assert VariantPricing.objects.get().market_id == shop.market.pk


def test_archived_shop_is_refused(shop, export):
    path = export("tea,Tea,S,T-S,shopify,5,8.90\n")
    assert shop.workspace.delete(f"accounts/{shop.handle}.json").status_code == 200

    with pytest.raises(CommandError) as refused:
        run(shop, path)

    assert str(refused.value) == f"Account {shop.handle!r} is archived."
