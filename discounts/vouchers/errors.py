from commerce.errors import Refusal


class VoucherNotActive(Refusal):
    """Carries `voucher_status`, and at checkout `voucher_code`."""

    status = 409
    code = "voucher_not_active"
    title = "The gift card is not active"


class InsufficientBalance(Refusal):
    """Carries `balance_cents` and `available_cents`, the balance minus what open checkouts hold."""

    status = 422
    code = "insufficient_balance"
    title = "The gift card's balance does not cover the amount"


class InsufficientBalanceHeld(Refusal):
    """Carries `voucher_code` and `available_cents`."""

    status = 409
    code = "insufficient_balance_held"
    title = "The gift card no longer covers its share of the payment"


class CurrencyMismatch(Refusal):
    """Carries `currency`, the required one, and `voucher_currency`."""

    status = 409
    code = "currency_mismatch"
    title = "The gift card is in another currency"
