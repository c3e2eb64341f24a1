class StackError(Exception):
    """What ends a run; the message is for the person at the terminal."""


class Interrupted(Exception):  # noqa: N818  -- a wish of the person at the terminal, not a fault
    """A stop signal arrived while something was being waited for."""
