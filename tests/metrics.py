"""Read the product's metrics."""

from commerce.metrics import shared_registry


def failures_of(loop: str) -> float:
    """Return how many rows and accounts a loop has skipped after failures."""
    return shared_registry().get_sample_value("commerce_loop_failures_total", {"loop": loop}) or 0.0
