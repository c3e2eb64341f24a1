from commerce.errors import Refusal

from .vouchers import errors as voucher_errors  # noqa: F401  for the catalogue of refusals, which looks here


class DiscountCodeTaken(Refusal):
    status = 409
    code = "discount_code_taken"
    title = "Another live discount has this code"
    constraints = ("discounts_code",)


class DiscountArchived(Refusal):
    status = 409
    code = "discount_archived"
    title = "The discount is archived"
