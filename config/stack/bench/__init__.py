"""`make bench`: how fast a running stack answers, and how many SQL statements that takes."""

from .command import main

__all__ = ["main"]
