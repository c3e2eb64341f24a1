class StackError(Exception):
    """What ends a run; the message is for the person at the terminal."""


class Interrupted(Exception):
    """A stop signal arrived while something was being waited for."""
