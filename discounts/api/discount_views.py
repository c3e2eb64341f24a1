from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.rest.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet
from discounts import operations, queries
from discounts.models import Discount, DiscountRedemption

from .discount_input import DiscountChanges, DiscountFilter, DiscountInput, DiscountRedemptionFilter
from .discount_output import DiscountOutput, DiscountRedemptionOutput


class DiscountsViewSet(AdminViewSet):
    """`type` is set once; gift cards are issued as vouchers. Null resets an optional field to its default.

    `code` is for `discount_code`, may be given to the other types but `automatic_discount`, and is compared without
    regard to case. `buy_x_get_y` takes its value from `bogo_config`, `bulk_pricing` from the tiers of `bulk_tiers`:
    their own `value_mode` and `value_amount` are ignored. `currency` is needed for every amount of money.
    """

    area = "discounts"

    @answers(many("discounts", DiscountOutput), parameters=[*PAGE_PARAMETERS, DiscountFilter])
    def list(self, request: Request) -> Response:
        page = newest_first(queries.discounts(**self.valid_query(DiscountFilter)), self.cursor)
        return Response(page.answer("discounts", partial(_discount, now=timezone.now())))

    @answers(one("discount", DiscountOutput), request=DiscountInput, status=201)
    def create(self, request: Request) -> Response:
        discount = operations.create_discount(fields=self.valid(DiscountInput))
        return _answer(discount, status=201)

    @answers(one("discount", DiscountOutput))
    def retrieve(self, request: Request, discount_id: int) -> Response:
        return _answer(queries.get_discount(discount_id))

    @answers(one("discount", DiscountOutput), request=DiscountChanges, partial=True)
    def update(self, request: Request, discount_id: int) -> Response:
        changes = self.valid(DiscountChanges, partial=True)
        return _answer(operations.update_discount(discount_id=discount_id, changes=changes))

    @answers(one("discount", DiscountOutput))
    def destroy(self, request: Request, discount_id: int) -> Response:
        return _answer(operations.archive_discount(discount_id=discount_id, now=timezone.now()))


class DiscountRedemptionsViewSet(AdminViewSet):
    area = "discounts"

    @answers(
        many("discount_redemptions", DiscountRedemptionOutput),
        parameters=[*PAGE_PARAMETERS, DiscountRedemptionFilter],
    )
    def list(self, request: Request) -> Response:
        entries = queries.redemptions(**self.valid_query(DiscountRedemptionFilter))
        return Response(newest_first(entries, self.cursor).answer("discount_redemptions", _redemption))


def _answer(discount: Discount, *, status: int = 200) -> Response:
    return Response({"discount": _discount(discount, now=timezone.now())}, status=status)


def _discount(discount: Discount, *, now: datetime) -> dict[str, Any]:
    return DiscountOutput(discount, context={"now": now}).data


def _redemption(entry: DiscountRedemption) -> dict[str, Any]:
    return DiscountRedemptionOutput(entry).data
