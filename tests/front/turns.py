"""Helpers for the tests of `config.front.turns`."""

from config.front.turns import Work


def work(caller, target=None, lane=""):
    return Work(run=lambda: None, refuse=lambda: None, caller=caller, lane=lane, target=target)


def start_all(turns):
    """Return everything that starts now."""
    return list(iter(turns.next, None))


def add_all(turns, works):
    """Return whether each found a place without taking another's."""
    return [turns.add(one) is None for one in works]
