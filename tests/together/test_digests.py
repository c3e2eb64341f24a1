"""The digest by which the state machine notices that an act in one shop changed rows of another."""

from tests import factories
from tests.together.digests import digest_of_rows


def test_digest_tells_any_change_of_a_shop_and_none_of_another(shop, other_shop):
    customer = factories.make_customer(shop, first_name="Ada")
    before = digest_of_rows(shop), digest_of_rows(other_shop)

    with shop.scope():
        type(customer).objects.update(first_name="Eve")

    assert digest_of_rows(shop) != before[0]
    assert digest_of_rows(other_shop) == before[1]
