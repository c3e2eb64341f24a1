"""What the product has counted."""

from commerce.metrics import shared_registry


def failures_of(loop: str) -> float:
    """How many rows and accounts a loop has gone on without."""
    return shared_registry().get_sample_value("commerce_loop_failures_total", {"loop": loop}) or 0.0
