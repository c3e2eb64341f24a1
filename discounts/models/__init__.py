from .discounts import Discount, DiscountHold, DiscountRedemption
from .vouchers import Voucher, VoucherHold, VoucherPaymentAttempt, VoucherRedemption

__all__ = [
    "Discount",
    "DiscountHold",
    "DiscountRedemption",
    "Voucher",
    "VoucherHold",
    "VoucherPaymentAttempt",
    "VoucherRedemption",
]
