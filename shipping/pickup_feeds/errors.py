class FeedRefused(Exception):
    """A feed that was not imported; nothing has changed."""


class LineRefused(ValueError):
    """One line or item of a feed that describes no pickup point, and why."""
