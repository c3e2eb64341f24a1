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
from discounts.errors import DiscountArchived, DiscountCodeTaken, DiscountInUse
from discounts.mechanics.gift_card import GiftCard
from discounts.models import Discount

from .discount_input import DiscountChanges, DiscountFilter, DiscountInput, DiscountRedemptionFilter
from .discount_output import DiscountOutput, DiscountRedemptionOutput


class DiscountsViewSet(AdminViewSet):
    """Discounts by code or by themselves, on orders, lines or shipping.

    `code` is required for `discount_code`, optional for the other types except `automatic_discount`, and ignores
    case. `buy_x_get_y` takes its value from `bogo_config`, `bulk_pricing` from the tiers of `bulk_tiers`: their own
    `value_mode` and `value_amount` are ignored. `currency` is needed for every amount of money.

    A `gift_card` of a `fixed_amount` issues a voucher with that balance and shows its `code` and `voucher_id`. It
    expires at `ends_at`. None of this can be changed. Keys also need the scopes of vouchers: without `read_vouchers`,
    `code` is null.
    """

    area = "discounts"

    @answers(many("discounts", DiscountOutput), parameters=[*PAGE_PARAMETERS, DiscountFilter])
    def list(self, request: Request) -> Response:
        """List discounts.

        Also disabled and archived ones. Newest first.
        """
        page = newest_first(queries.discounts(**self.valid_query(DiscountFilter)), self.cursor)
        return Response(page.answer("discounts", partial(self._present, now=timezone.now())))

    @answers(
        one("discount", DiscountOutput),
        request=DiscountInput,
        status=201,
        refuses=(DiscountCodeTaken, InsufficientScope),
    )
    def create(self, request: Request) -> Response:
        """Create a discount.

        Null means a field's default. A code belongs to one live discount of the shop. A discount of the type
        `gift_card` issues a gift card, which needs the scope `write_vouchers`.
        """
        fields = self.valid(DiscountInput)
        self._require_voucher_scope(fields["type"])
        actor = f"key:{self.principal.key_id}"
        discount = operations.create_discount(fields=fields, actor=actor, now=timezone.now())
        return self._answer(discount, status=201)

    @answers(one("discount", DiscountOutput))
    def retrieve(self, request: Request, discount_id: int) -> Response:
        """Show a discount.

        With its `effective_status`, which also says whether it is scheduled, over or used up.
        """
        return self._answer(queries.get_discount(discount_id))

    @answers(
        one("discount", DiscountOutput),
        request=DiscountChanges,
        partial=True,
        refuses=(DiscountArchived, DiscountCodeTaken, DiscountInUse),
    )
    def update(self, request: Request, discount_id: int) -> Response:
        """Change a discount.

        Only the fields that are sent change; null resets a field to its default. The type can't change, and an
        archived discount can't change at all. Checkouts that haven't reached payment follow the change.
        """
        changes = self.valid(DiscountChanges, partial=True)
        return self._answer(operations.update_discount(discount_id=discount_id, changes=changes))

    @answers(one("discount", DiscountOutput), refuses=(InsufficientScope,))
    def destroy(self, request: Request, discount_id: int) -> Response:
        """Archive a discount.

        For ever: it applies no more, and its code is free again. The gift card of a `gift_card` discount is disabled.
        Repeated, nothing changes.
        """
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
    """The ledger of uses of discounts. Entries are never changed: a cancelled order adds a reversal."""

    area = "discounts"

    @answers(
        many("discount_redemptions", DiscountRedemptionOutput),
        parameters=[*PAGE_PARAMETERS, DiscountRedemptionFilter],
    )
    def list(self, request: Request) -> Response:
        """List uses of discounts.

        Newest first.
        """
        entries = queries.redemptions(**self.valid_query(DiscountRedemptionFilter))
        return Response(
            newest_first(entries, self.cursor).answer("discount_redemptions", DiscountRedemptionOutput.of)
        )
