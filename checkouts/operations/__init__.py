from .abandonment import abandon_checkouts, sweep_account
from .completion import complete_checkout
from .entry import create_checkout
from .payment import choose_payment_method, confirm_payment, start_payment
from .steps import set_address, set_shipping

__all__ = [
    "abandon_checkouts",
    "choose_payment_method",
    "complete_checkout",
    "confirm_payment",
    "create_checkout",
    "set_address",
    "set_shipping",
    "start_payment",
    "sweep_account",
]
