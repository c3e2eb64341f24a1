from commerce.errors import NotFound, ValidationFailed
from commerce.inventory.models import Location

from .models import Supplier
from .rules import SUPPLIER


def get_supplier(supplier_id):
    """A supplier of the account in scope; raises `NotFound`."""
    supplier = Supplier.objects.filter(pk=supplier_id).first()
    if supplier is None:
        raise NotFound
    return supplier


def create_supplier(*, fields):
    """Create a supplier. Raises `ValidationFailed`, also for a location that the account doesn't have."""
    fields = SUPPLIER.check(fields)
    _require_location(fields)
    return Supplier.objects.create(**fields)


def update_supplier(*, supplier, changes):
    """Change a supplier. Raises as `create_supplier` does."""
    changes = SUPPLIER.check(changes, partial=True)
    _require_location(changes)
    for name, value in changes.items():
        setattr(supplier, name, value)
    supplier.save(update_fields=list(changes))
    return supplier


def delete_supplier(*, supplier_id):
    """Delete a supplier. Raises `NotFound`."""
    deleted, _ = Supplier.objects.filter(pk=supplier_id).delete()
    if not deleted:
        raise NotFound


def _require_location(fields):
    location_id = fields.get("location_id")
    if location_id is not None and not Location.objects.filter(pk=location_id).exists():
        raise ValidationFailed.unknown("location_id")
