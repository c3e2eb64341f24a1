"""`make demo`: buys something over HTTP from a running stack, from the catalogue to the confirmation email."""

import os
import sys

import requests

from config.stack.errors import StackError
from config.stack.running import RunningStack

from .sale import Sale, sell


def main() -> int:
    """Return the exit status: 1 if no stack is running, or a request is refused."""
    try:
        stack = RunningStack.find(os.environ)
        sell(Sale.in_first_euro_market(stack))
    except (StackError, requests.RequestException) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
