from config.stack.bench.shop import Shop
from config.stack.bench.shopping import HEALTH, READ_CART, STEPS_OF_JOURNEY, Shopping
from config.stack.bench.statements import count_statements
from tests import factories


def test_statements_of_every_operation_are_counted(shop):
    variants = [factories.make_variant(shop) for _ in range(3)]
    rate = factories.make_rate(shop)
    measured = Shop(
        handle=shop.handle,
        admin_key=shop.issue("admin"),
        storefront_key=shop.issue("storefront"),
        market_id=shop.market.pk,
        variant_ids=[variant.pk for variant in variants],
        method_id=rate.method_id,
        rate_id=rate.pk,
    )

    counts = count_statements(Shopping(measured, host="localhost"))

    assert counts.keys() >= {HEALTH, READ_CART, *STEPS_OF_JOURNEY}
    assert counts[HEALTH] == 0
    assert min(count for operation, count in counts.items() if operation != HEALTH) >= 2
