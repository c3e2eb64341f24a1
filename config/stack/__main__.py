"""`python -m config.stack run | demo | bench | roles`."""

import argparse
import importlib
import sys

from config.stack.roles import as_script
from config.stack.run import run

_COMMANDS = {
    "run": "start everything and keep it running",
    "demo": "walk through a sale over HTTP against a running stack",
    "bench": "measure a running stack",
    "roles": "print the SQL that makes the database roles, for an administrator",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m config.stack")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in _COMMANDS.items():
        commands.add_parser(name, help=summary, description=summary)
    command = parser.parse_args().command
    if command == "run":
        return run()
    if command == "roles":
        print(as_script())
        return 0
    # Loaded on demand: each has needs of its own that running the stack doesn't have.
    status: int = importlib.import_module(f"config.stack.{command}").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
