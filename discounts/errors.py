from commerce.errors import Refusal

from .vouchers import errors as voucher_errors  # noqa: F401  for RestConfig.ready, which loads this module


class DiscountCodeTaken(Refusal):
    status = 409
    code = "discount_code_taken"
    title = "Another live discount or a gift card has this code"
    # Nothing is looked up before: of two simultaneous requests, only the unique index can refuse one.
    constraints = ("discounts_code",)


class DiscountArchived(Refusal):
    status = 409
    code = "discount_archived"
    title = "The discount is archived"


class DiscountNotFound(Refusal):
    status = 422
    code = "discount_not_found"
    title = "No discount and no gift card has this code"


class DiscountNotActive(Refusal):
    status = 422
    code = "discount_not_active"
    title = "The discount is disabled or archived"


class DiscountNotStarted(Refusal):
    status = 422
    code = "discount_not_started"
    title = "The discount has not started yet"


class DiscountExpired(Refusal):
    status = 422
    code = "discount_expired"
    title = "The discount has ended"


class MarketMismatch(Refusal):
    status = 422
    code = "market_mismatch"
    title = "The discount is not for this market"


class CustomerNotEligible(Refusal):
    status = 422
    code = "customer_not_eligible"
    title = "The discount is not for this customer"


class MinimumNotMet(Refusal):
    status = 422
    code = "minimum_not_met"
    title = "The subtotal is below the discount's minimum"


class UsageLimitReached(Refusal):
    status = 422
    code = "usage_limit_reached"
    title = "The discount has reached its usage limit"


class CustomerUsageLimitReached(Refusal):
    status = 422
    code = "customer_usage_limit_reached"
    title = "The customer has used the discount as often as allowed"


class DiscountNotApplicable(Refusal):
    status = 422
    code = "discount_not_applicable"
    title = "The discount takes nothing off these lines"


class DiscountNotApplied(Refusal):
    status = 404
    code = "discount_not_applied"
    title = "The code is not applied to this checkout"


class DiscountExhausted(Refusal):
    """Another checkout took the last use meanwhile. Carries `discount_code` and `discount_id`."""

    status = 409
    code = "discount_exhausted"
    title = "A discount of this checkout has no use left"
    # Of two simultaneous payments of one person, only the unique indexes can tell which came first.
    constraints = ("discount_holds_first_order_email", "discount_holds_first_order_customer")


class DiscountInUse(Refusal):
    status = 409
    code = "discount_in_use"
    title = "The discount's code is entered in open checkouts"
