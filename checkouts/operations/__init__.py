from .abandonment import abandon_checkouts, sweep_account
from .codes import apply_code, remove_code
from .completion import complete_checkout
from .entry import create_checkout
from .payment import choose_payment_method, confirm_payment, start_payment
from .steps import set_address, set_shipping
from .vat import set_vat_number

__all__ = [
    "abandon_checkouts",
    "apply_code",
    "choose_payment_method",
    "complete_checkout",
    "confirm_payment",
    "create_checkout",
    "remove_code",
    "set_address",
    "set_shipping",
    "set_vat_number",
    "start_payment",
    "sweep_account",
]
