from typing import ClassVar

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.orders.errors import OrderNotOpen
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from discounts.models import Voucher
from discounts.vouchers import operations, queries
from discounts.vouchers.errors import CurrencyMismatch, InsufficientBalance, VoucherNotActive

from . import vouchers_serializers as shapes


class VouchersViewSet(AdminViewSet):
    """Vouchers are gift cards: a code with a balance, which may be spent in parts. Every change of a balance has an
    entry in the ledger.
    """

    area = "vouchers"
    # Wrong codes are counted, so that nobody finds a gift card by trying.
    guessed_codes: ClassVar[dict[str, str]] = {"redeem": "not_found"}

    @answers(many("vouchers", shapes.VoucherOutput), parameters=[*PAGE_PARAMETERS, shapes.VoucherFilter])
    def list(self, request: Request) -> Response:
        """List gift cards.

        Newest first.
        """
        found = queries.vouchers(**self.valid_query(shapes.VoucherFilter), now=timezone.now())
        return Response(newest_first(found, self.cursor).answer("vouchers", _present_voucher))

    @answers(one("voucher", shapes.VoucherOutput), request=shapes.VoucherInput, status=201)
    def create(self, request: Request) -> Response:
        """Issue a gift card.

        The answer has its code, which is as good as money. With `send_email`, the code is emailed to
        `recipient_email`. Publishes `voucher.issued`.
        """
        fields = self.valid(shapes.VoucherInput)
        voucher = operations.issue_voucher(**fields, actor=self._actor, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)}, status=201)

    @answers(one("voucher", shapes.VoucherWithAttemptsOutput))
    def retrieve(self, request: Request, voucher_id: int) -> Response:
        """Show a gift card.

        With every attempt to pay with it, also refused ones.
        """
        voucher = queries.get_voucher(voucher_id)
        attempts = voucher.payment_attempts.order_by("pk")
        shown = shapes.VoucherPaymentAttemptOutput(attempts, many=True).data
        return Response({"voucher": _present_voucher(voucher) | {"payment_attempts": shown}})

    @answers(one("voucher", shapes.VoucherOutput))
    def destroy(self, request: Request, voucher_id: int) -> Response:
        """Disable a gift card.

        For ever, whatever its balance. Repeated, nothing changes.
        """
        voucher = operations.disable_voucher(voucher_id=voucher_id, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)})

    @answers(one("voucher", shapes.VoucherOutput), request=shapes.RevokeInput)
    def revoke(self, request: Request, voucher_id: int) -> Response:
        """Revoke a gift card for fraud.

        For ever, whatever its status. What orders took from it stays taken. Publishes `voucher.revoked`. Repeated,
        nothing changes.
        """
        fields = self.valid(shapes.RevokeInput)
        voucher = operations.revoke_voucher(voucher_id=voucher_id, **fields, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)})

    @answers(
        envelope(
            "Redeem",
            voucher=shapes.VoucherOutput(help_text="The gift card afterwards."),
            redemption=shapes.RedeemOutput(help_text="What was taken."),
        ),
        request=shapes.RedeemInput,
        refuses=(VoucherNotActive, InsufficientBalance, CurrencyMismatch, OrderNotOpen),
    )
    def redeem(self, request: Request) -> Response:
        """Take an amount from a gift card.

        All of the balance or part of it, perhaps towards an order. More than is left is refused, and nothing is
        taken: amounts that open checkouts hold count as taken. Refused attempts are kept with the gift card.
        Publishes `voucher.redeemed`, and `voucher.depleted` when nothing is left. Send an `Idempotency-Key`: without
        one, a repeated request takes the amount again. Many wrong codes are refused with `rate_limited` for a while.
        """
        fields = {"order_id": None} | self.valid(shapes.RedeemInput)
        redeemed = operations.redeem_voucher(**fields, actor=self._actor, now=timezone.now())
        return Response(
            {"voucher": _present_voucher(redeemed.voucher), "redemption": _present_redemption(redeemed)}
        )

    @property
    def _actor(self) -> str:
        return f"key:{self.principal.key_id}"


class VoucherRedemptionsViewSet(AdminViewSet):
    """The ledger of gift cards. Entries are never changed; a balance is the sum of its entries."""

    area = "vouchers"

    @answers(
        many("voucher_redemptions", shapes.VoucherRedemptionOutput),
        parameters=[*PAGE_PARAMETERS, shapes.VoucherRedemptionFilter],
    )
    def list(self, request: Request) -> Response:
        """List the ledger of gift cards.

        Newest first.
        """
        found = queries.redemptions(**self.valid_query(shapes.VoucherRedemptionFilter))
        page = newest_first(found, self.cursor)
        return Response(page.answer("voucher_redemptions", shapes.VoucherRedemptionOutput.of))


def _present_voucher(voucher: Voucher) -> dict[str, object]:
    return shapes.VoucherOutput(voucher, context={"now": timezone.now()}).data


def _present_redemption(redeemed: operations.Redeemed) -> dict[str, object]:
    entry = redeemed.redemption
    shown = {
        "id": entry.pk,
        "voucher_id": entry.voucher_id,
        "order_id": entry.order_id,
        "amount_cents": -entry.amount_cents,
        "balance_before_cents": entry.balance_after_cents - entry.amount_cents,
        "balance_after_cents": entry.balance_after_cents,
        "currency": redeemed.voucher.currency,
        "created_at": entry.created_at,
    }
    return shapes.RedeemOutput.of(shown)
