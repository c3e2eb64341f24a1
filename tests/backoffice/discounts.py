"""Fill in the page of a discount."""

from discounts.models import Discount
from tests import factories

ADD = "discounts/discount/add/"
CODE = {
    "title": "Welcome",
    "type": "discount_code",
    "code": "WELCOME",
    "value_mode": "percentage",
    "value_amount": 10,
}
# The inputs of the mechanics, in page order.
BOGO = {
    "title": "Three for two",
    "type": "buy_x_get_y",
    "bogo_config_0": 2,
    "bogo_config_3": 1,
    "bogo_config_6": "percentage",
    "bogo_config_7": "50",
}


def errors_of(answer):
    return answer.context["adminform"].form.errors


def change_path(discount):
    return f"discounts/discount/{discount.pk}/change/"


def only_row(shop):
    with shop.scope():
        return Discount.objects.get()


def add_discount(shop, **fields):
    return factories.make_discount(shop, **CODE | {"value_amount": 1000} | fields)
