from .customers import (
    change_preferences,
    create_customer,
    record_purchase,
    redact_customer,
    take_back_purchase,
    update_customer,
)
from .segments import create_segment, delete_segment, update_segment

__all__ = [
    "change_preferences",
    "create_customer",
    "create_segment",
    "delete_segment",
    "record_purchase",
    "redact_customer",
    "take_back_purchase",
    "update_customer",
    "update_segment",
]
