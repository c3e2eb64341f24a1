from collections.abc import Iterator

from commerce.errors import FieldError
from discounts.evaluation import Mechanic, Stage, Terms


class DiscountCode(Mechanic):
    type = "discount_code"
    stage = Stage.CODES

    def errors(self, terms: Terms) -> Iterator[FieldError]:
        if terms.code is None:
            yield FieldError("code", "required", "A discount code needs a code.")
