"""products/{id}.json of the admin surface."""

from django.utils import timezone

from commerce.catalog.models import Product
from commerce.formats import timestamp
from tests.commerce.refusals import refusal
from tests.factories import make_product, make_variant


def product_row(shop, product_id):
    with shop.scope():
        return Product.objects.get(pk=product_id)


def test_get_product_shows_its_live_variants_in_order(shop):
    product = make_product(shop)
    kept = [make_variant(shop, product=product) for _ in range(2)]
    gone = make_variant(shop, product=product)
    shop.admin.delete(f"variants/{gone.pk}.json")

    answer = shop.admin.get(f"products/{product.pk}.json")

    assert answer.status_code == 200
    variants = answer.json()["product"]["variants"]
    assert [variant["id"] for variant in variants] == [str(variant.pk) for variant in kept]


def test_get_product_of_another_shop_is_not_found(shop, other_shop):
    product = make_product(other_shop)

    assert refusal(shop.admin.get(f"products/{product.pk}.json")) == (404, "not_found")


def test_update_product_changes_only_what_is_sent(shop):
    product = make_product(shop, title="Shirt", description="Of cotton")

    answer = shop.admin.put(f"products/{product.pk}.json", {"title": "Blouse", "status": "draft"})

    assert answer.status_code == 200
    changed = answer.json()["product"]
    assert (changed["title"], changed["description"], changed["status"]) == ("Blouse", "Of cotton", "draft")
    assert changed["handle"] == product.handle
    assert changed["updated_at"] > timestamp(product.updated_at)


def test_update_product_refuses_a_taken_handle(shop):
    make_product(shop, handle="shirt")
    product = make_product(shop, handle="blouse")

    answer = shop.admin.put(f"products/{product.pk}.json", {"handle": "shirt"})

    assert refusal(answer) == (409, "handle_taken")
    assert product_row(shop, product.pk).handle == "blouse"


def test_update_product_of_another_shop_is_not_found(shop, other_shop):
    product = make_product(other_shop, title="Theirs")

    assert shop.admin.put(f"products/{product.pk}.json", {"title": "Mine"}).status_code == 404
    assert product_row(other_shop, product.pk).title == "Theirs"


def test_delete_product_archives_it_with_its_variants(shop):
    product = make_product(shop)
    variant = make_variant(shop, product=product)
    before = timezone.now()

    answer = shop.admin.delete(f"products/{product.pk}.json")

    assert answer.status_code == 200
    archived = answer.json()["product"]
    assert archived["status"] == "archived"
    assert archived["archived_at"] > timestamp(before)
    assert [each["id"] for each in archived["variants"]] == [str(variant.pk)]
    assert archived["variants"][0]["archived_at"] == archived["archived_at"]


def test_delete_product_repeated_answers_the_same(shop):
    product = make_product(shop)
    first = shop.admin.delete(f"products/{product.pk}.json")

    second = shop.admin.delete(f"products/{product.pk}.json")

    assert second.status_code == 200
    assert second.json() == first.json()


def test_update_product_to_archived_and_back_takes_its_variants_along(shop):
    product = make_product(shop)
    variant, gone = (make_variant(shop, product=product) for _ in range(2))
    shop.admin.delete(f"variants/{gone.pk}.json")

    archived = shop.admin.put(f"products/{product.pk}.json", {"status": "archived"}).json()["product"]
    restored = shop.admin.put(f"products/{product.pk}.json", {"status": "active"}).json()["product"]

    assert [each["id"] for each in archived["variants"]] == [str(variant.pk)]
    assert archived["variants"][0]["archived_at"] == archived["archived_at"] is not None
    assert (restored["status"], restored["archived_at"]) == ("active", None)
    assert [(each["id"], each["archived_at"]) for each in restored["variants"]] == [(str(variant.pk), None)]


def test_update_product_back_from_the_archive_refuses_a_sku_taken_meanwhile(shop):
    product = make_product(shop)
    make_variant(shop, product=product, sku="S-1")
    shop.admin.delete(f"products/{product.pk}.json")
    make_variant(shop, sku="S-1")

    answer = shop.admin.put(f"products/{product.pk}.json", {"status": "active"})

    assert refusal(answer) == (409, "sku_taken")
    assert product_row(shop, product.pk).status == "archived"
