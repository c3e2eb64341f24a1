from typing import ClassVar

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from discounts.models import Voucher
from discounts.vouchers import operations, queries

from . import vouchers_serializers as shapes


class VouchersViewSet(AdminViewSet):
    area = "vouchers"
    # Wrong codes are counted, so that nobody finds a gift card by trying.
    guessed_codes: ClassVar[dict[str, str]] = {"redeem": "not_found"}

    @answers(many("vouchers", shapes.VoucherOutput), parameters=[*PAGE_PARAMETERS, shapes.VoucherFilter])
    def list(self, request: Request) -> Response:
        found = queries.vouchers(**self.valid_query(shapes.VoucherFilter), now=timezone.now())
        return Response(newest_first(found, self.cursor).answer("vouchers", _present_voucher))

    @answers(one("voucher", shapes.VoucherOutput), request=shapes.VoucherInput, status=201)
    def create(self, request: Request) -> Response:
        fields = self.valid(shapes.VoucherInput)
        voucher = operations.issue_voucher(**fields, actor=self._actor, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)}, status=201)

    @answers(one("voucher", shapes.VoucherWithAttemptsOutput))
    def retrieve(self, request: Request, voucher_id: int) -> Response:
        voucher = queries.get_voucher(voucher_id)
        attempts = voucher.payment_attempts.order_by("pk")
        shown = shapes.VoucherPaymentAttemptOutput(attempts, many=True).data
        return Response({"voucher": _present_voucher(voucher) | {"payment_attempts": shown}})

    @answers(one("voucher", shapes.VoucherOutput))
    def destroy(self, request: Request, voucher_id: int) -> Response:
        voucher = operations.disable_voucher(voucher_id=voucher_id, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)})

    @answers(one("voucher", shapes.VoucherOutput), request=shapes.RevokeInput)
    def revoke(self, request: Request, voucher_id: int) -> Response:
        fields = self.valid(shapes.RevokeInput)
        voucher = operations.revoke_voucher(voucher_id=voucher_id, **fields, now=timezone.now())
        return Response({"voucher": _present_voucher(voucher)})

    @answers(
        envelope("Redeem", voucher=shapes.VoucherOutput(), redemption=shapes.RedeemOutput()),
        request=shapes.RedeemInput,
    )
    def redeem(self, request: Request) -> Response:
        fields = {"order_id": None} | self.valid(shapes.RedeemInput)
        redeemed = operations.redeem_voucher(**fields, actor=self._actor, now=timezone.now())
        return Response(
            {"voucher": _present_voucher(redeemed.voucher), "redemption": _present_redemption(redeemed)}
        )

    @property
    def _actor(self) -> str:
        return f"key:{self.principal.key_id}"


class VoucherRedemptionsViewSet(AdminViewSet):
    area = "vouchers"

    @answers(
        many("voucher_redemptions", shapes.VoucherRedemptionOutput),
        parameters=[*PAGE_PARAMETERS, shapes.VoucherRedemptionFilter],
    )
    def list(self, request: Request) -> Response:
        found = queries.redemptions(**self.valid_query(shapes.VoucherRedemptionFilter))
        page = newest_first(found, self.cursor)
        return Response(
            page.answer("voucher_redemptions", lambda entry: shapes.VoucherRedemptionOutput(entry).data)
        )


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
    return shapes.RedeemOutput(shown).data
