from discounts.evaluation import Mechanic, Stage


class AutomaticDiscount(Mechanic):
    type = "automatic_discount"
    stage = Stage.AUTOMATIC
    refused = {"code": "An automatic discount applies without a code."}
    hidden = frozenset({"code"})
