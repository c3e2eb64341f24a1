class FeedRefused(Exception):
    """The feed wasn't imported, and nothing has changed."""


class LineRefused(ValueError):
    """A line or item of a feed isn't a valid pickup point. The message says why."""
