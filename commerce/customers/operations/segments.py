from typing import Any

from commerce.customers.models import Segment
from commerce.errors import NotFound


def create_segment(*, fields: dict[str, Any]) -> Segment:
    """Create a segment. Raises `SegmentHandleTaken` by the unique constraint."""
    return Segment.objects.create(**fields)


def update_segment(*, segment: Segment, changes: dict[str, Any]) -> Segment:
    """Change a segment, effective at once. Raises `SegmentHandleTaken` by the unique constraint."""
    for name, value in changes.items():
        setattr(segment, name, value)
    segment.save(update_fields=[*changes, "updated_at"])
    return segment


def delete_segment(*, segment_id: int) -> None:
    """Delete a segment. Discounts that name it then apply to nobody. Raises `NotFound`."""
    deleted, _ = Segment.objects.filter(pk=segment_id).delete()
    if not deleted:
        raise NotFound
