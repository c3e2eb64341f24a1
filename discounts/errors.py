from commerce.errors import Refusal


class DiscountCodeTaken(Refusal):
    status = 409
    code = "discount_code_taken"
    title = "Another live discount has this code"
    constraints = ("discounts_code",)
