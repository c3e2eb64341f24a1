class StackError(Exception):
    """Ends a command. The message is for the person at the terminal."""


class Interrupted(Exception):
    """A stop signal arrived while waiting."""
