"""A sale to damage, for tests of reconciliation."""

from commerce.inventory.models import InventoryLevel
from tests import factories
from tests.checkouts.reconciliation.command import damage, reconcile
from tests.storefront import PHASES, enter_checkout, take_step

ORDER = "WHERE account_id = %(shop)s AND order_id = %(order)s"
CHECKOUT = "WHERE account_id = %(shop)s AND checkout_id = %(checkout)s"
OF_SHOP = "WHERE account_id = %(shop)s"


class Sale:
    """A checkout of two units at 10.00, with 10 % off and 5.00 by gift card, next to an undamaged one."""

    def __init__(self, shop, phase):
        self.shop = shop
        self.variant = factories.make_variant(shop, price_cents=1000, stock=10)
        self.discount = factories.make_discount(shop, code="TEN", stackable=True)
        rate = factories.make_rate(shop, price_cents=0)
        cards = [factories.make_voucher(shop, 500) for _ in range(2)]
        self.card = cards[0]
        first, _ = [self._walk(card, at, rate) for card, at in zip(cards, (phase, "completed"), strict=True)]
        self.checkout_id, self.order_id = int(first["id"]), int(first["order_id"] or 0)
        with shop.scope():
            self.level_id = InventoryLevel.objects.get().pk
        assert reconcile(shop) == []

    def _walk(self, card, phase, rate):
        checkout = enter_checkout(self.shop, (self.variant, 2))
        for code in ("TEN", card.code):
            checkout = self._enter(checkout["token"], code)
        for step in PHASES[1 : PHASES.index(phase) + 1]:
            checkout = take_step(step, self.shop, checkout["token"], rate=rate)
        return checkout

    def _enter(self, token, code):
        answer = self.shop.storefront.post(f"checkouts/{token}/discount.json", {"code": code})
        assert answer.status_code == 200, answer.content
        return answer.json()["checkout"]

    def damaged(self, *statements):
        """Return what is found after these statements."""
        damage(
            self.shop,
            *statements,
            order=self.order_id,
            checkout=self.checkout_id,
            card=self.card.pk,
            discount=self.discount.pk,
        )
        return reconcile(self.shop)
