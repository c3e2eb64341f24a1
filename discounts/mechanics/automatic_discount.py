from commerce.wording import mark
from discounts.evaluation import Mechanic, Stage


class AutomaticDiscount(Mechanic):
    type = "automatic_discount"
    stage = Stage.AUTOMATIC
    refused = {"code": mark("An automatic discount applies without a code.")}
    hidden = frozenset({"code"})
