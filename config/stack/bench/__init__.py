"""`make bench`: measures how fast a running stack answers, and with how many SQL statements."""

from .command import main

__all__ = ["main"]
