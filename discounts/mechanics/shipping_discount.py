from commerce.wording import mark
from discounts.evaluation import Mechanic, Stage


class ShippingDiscount(Mechanic):
    type = "shipping_discount"
    stage = Stage.SHIPPING
    is_on_shipping = True
    # `refused` compares with this default, so only other values are refused.
    defaults = {"applies_to": "shipping"}
    refused = {"applies_to": mark("A shipping discount applies to shipping.")}
    hidden = frozenset({"applies_to", "product_ids", "variant_ids"})
    form_values = {"applies_to": "shipping"}
