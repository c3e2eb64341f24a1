from .choice import choose_option
from .methods import create_method, delete_method, lock_methods_to_delete, update_method
from .rates import create_rate, delete_rate, update_rate
from .zones import create_zone, delete_zone, update_zone

__all__ = [
    "choose_option",
    "create_method",
    "create_rate",
    "create_zone",
    "delete_method",
    "delete_rate",
    "delete_zone",
    "lock_methods_to_delete",
    "update_method",
    "update_rate",
    "update_zone",
]
