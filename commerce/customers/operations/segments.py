from collections.abc import Mapping

from commerce.customers.models import Segment
from commerce.customers.rules import SEGMENT
from commerce.errors import NotFound
from commerce.queries import get_or_not_found


def create_segment(*, fields: Mapping[str, object]) -> Segment:
    """Create a segment. Raises `ValidationFailed`, and `SegmentHandleTaken` through the unique key."""
    return Segment.objects.create(**SEGMENT.check(fields))


def update_segment(*, segment_id: int, changes: Mapping[str, object]) -> Segment:
    """Change a segment; its members change at once. Raises as `create_segment` does, and `NotFound`."""
    segment = get_or_not_found(Segment.objects, pk=segment_id)
    changes = SEGMENT.check(changes, partial=True)
    segment.save_changes(changes)
    return segment


def delete_segment(*, segment_id: int) -> None:
    """Delete a segment. Discounts that are limited to it no longer apply to anyone because of it. Raises `NotFound`."""
    deleted, _ = Segment.objects.filter(pk=segment_id).delete()
    if not deleted:
        raise NotFound
