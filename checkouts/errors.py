from commerce.errors import Refusal, TooLarge


class CartEmpty(Refusal):
    status = 422
    code = "cart_empty"
    title = "The cart has no lines"


class MarketNotActive(Refusal):
    status = 409
    code = "market_not_active"
    title = "The cart's market is not active"


class AmountTooLarge(Refusal):
    status = 422
    code = "amount_too_large"
    title = "The checkout exceeds 9007199254740991 cents, the largest amount that this API supports"


class InvalidPhase(Refusal):
    """Carries `phase` and `allowed`, the phases in which the operation is allowed."""

    status = 409
    code = "invalid_phase"
    title = "The checkout is in a phase that doesn't allow this"


class CheckoutExpired(Refusal):
    status = 409
    code = "checkout_expired"
    title = "The checkout was abandoned"


class CheckoutAlreadyCompleted(Refusal):
    """Carries `order_id`."""

    status = 409
    code = "checkout_already_completed"
    title = "The checkout is already completed"


class CheckoutAlreadyPaid(Refusal):
    status = 409
    code = "checkout_already_paid"
    title = "The cart has a checkout with a confirmed payment; complete that checkout"


class CheckoutInPayment(Refusal):
    """Carries `checkout_token`."""

    status = 409
    code = "checkout_in_payment"
    title = "One of the carts has a checkout that is being paid or has been paid"


class CheckoutAlreadyOpen(Refusal):
    status = 409
    code = "checkout_already_open"
    title = "Another checkout of this cart was opened at the same time"
    constraints = ("checkouts_one_open_per_cart",)


class AddressIncomplete(Refusal):
    """Its `errors` name each missing field."""

    status = 422
    code = "address_incomplete"
    title = "An address needs address1, city and country_code"


class PaymentNotConfirmed(Refusal):
    status = 409
    code = "payment_not_confirmed"
    title = "The payment has not been confirmed"


class CheckoutTooLarge(TooLarge):
    """Limits of the request fields, enforced again by the database."""

    constraints = (
        "checkouts_shipping_address_size",
        "checkouts_billing_address_size",
        "checkouts_customer_note_size",
        "checkout_payment_attempts_return_url_size",
        "checkout_payment_attempts_cancel_url_size",
    )
