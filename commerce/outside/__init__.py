"""Calls to addresses that a merchant has named: the world outside may be reached, our own network may not."""
