from datetime import datetime
from functools import partial

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.errors import InsufficientScope
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from discounts import operations, queries
from discounts.mechanics.gift_card import GiftCard
from discounts.models import Discount, DiscountRedemption

from .discount_input import DiscountChanges, DiscountFilter, DiscountInput, DiscountRedemptionFilter
from .discount_output import DiscountOutput, DiscountRedemptionOutput


class DiscountsViewSet(AdminViewSet):
    """`type` can't be changed. Null resets an optional field to its default.

    `code` is required for `discount_code`, optional for the other types except `automatic_discount`, and ignores
    case. `buy_x_get_y` takes its value from `bogo_config`, `bulk_pricing` from the tiers of `bulk_tiers`:
    their own `value_mode` and `value_amount` are ignored. `currency` is needed for every amount of money.

    A `gift_card` of a `fixed_amount` issues a voucher with that balance and shows its `code` and `voucher_id`. It expires
    at `ends_at`. None of this can be changed; archiving it disables the voucher. Keys also need the scopes of vouchers:
    without `read_vouchers`, `code` is null.
    """

    area = "discounts"

    @answers(many("discounts", DiscountOutput), parameters=[*PAGE_PARAMETERS, DiscountFilter])
    def list(self, request: Request) -> Response:
        page = newest_first(queries.discounts(**self.valid_query(DiscountFilter)), self.cursor)
        return Response(page.answer("discounts", partial(self._present, now=timezone.now())))

    @answers(one("discount", DiscountOutput), request=DiscountInput, status=201)
    def create(self, request: Request) -> Response:
        fields = self.valid(DiscountInput)
        self._require_voucher_scope(fields["type"])
        actor = f"key:{self.principal.key_id}"
        discount = operations.create_discount(fields=fields, actor=actor, now=timezone.now())
        return self._answer(discount, status=201)

    @answers(one("discount", DiscountOutput))
    def retrieve(self, request: Request, discount_id: int) -> Response:
        return self._answer(queries.get_discount(discount_id))

    @answers(one("discount", DiscountOutput), request=DiscountChanges, partial=True)
    def update(self, request: Request, discount_id: int) -> Response:
        changes = self.valid(DiscountChanges, partial=True)
        return self._answer(operations.update_discount(discount_id=discount_id, changes=changes))

    @answers(one("discount", DiscountOutput))
    def destroy(self, request: Request, discount_id: int) -> Response:
        self._require_voucher_scope(queries.get_discount(discount_id).type)
        return self._answer(operations.archive_discount(discount_id=discount_id, now=timezone.now()))

    def _require_voucher_scope(self, discount_type: str) -> None:
        """Raise if the key lacks the scope of vouchers, which issuing or ending a gift card takes."""
        if discount_type == GiftCard.type and not self.principal.may("write_vouchers"):
            raise InsufficientScope(
                "The key lacks the scope write_vouchers.", required_scope="write_vouchers"
            )

    def _answer(self, discount: Discount, *, status: int = 200) -> Response:
        return Response({"discount": self._present(discount, now=timezone.now())}, status=status)

    def _present(self, discount: Discount, *, now: datetime) -> dict[str, object]:
        shown = DiscountOutput(discount, context={"now": now}).data
        # The code of a gift card is as good as money.
        is_secret = discount.type == GiftCard.type and not self.principal.may("read_vouchers")
        return shown | {"code": None} if is_secret else shown


class DiscountRedemptionsViewSet(AdminViewSet):
    area = "discounts"

    @answers(
        many("discount_redemptions", DiscountRedemptionOutput),
        parameters=[*PAGE_PARAMETERS, DiscountRedemptionFilter],
    )
    def list(self, request: Request) -> Response:
        entries = queries.redemptions(**self.valid_query(DiscountRedemptionFilter))
        return Response(
            newest_first(entries, self.cursor).answer("discount_redemptions", _present_redemption)
        )


def _present_redemption(entry: DiscountRedemption) -> dict[str, object]:
    return DiscountRedemptionOutput(entry).data
