from typing import Any

from commerce.customers.models import Segment
from commerce.errors import NotFound


def create_segment(*, fields: dict[str, Any]) -> Segment:
    """A new saved filter. Raises `SegmentHandleTaken` through the unique key."""
    return Segment.objects.create(**fields)


def update_segment(*, segment: Segment, changes: dict[str, Any]) -> Segment:
    """Change a segment; who belongs to it follows at once. Raises `SegmentHandleTaken`."""
    for name, value in changes.items():
        setattr(segment, name, value)
    segment.save(update_fields=[*changes, "updated_at"])
    return segment


def delete_segment(*, segment_id: int) -> None:
    """Discounts that name the segment find nobody in it any more. Raises `NotFound`."""
    deleted, _ = Segment.objects.filter(pk=segment_id).delete()
    if not deleted:
        raise NotFound
