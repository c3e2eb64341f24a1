"""`python -m config.stack run | demo | bench | manage | roles`."""

import argparse
import importlib
import sys

_COMMANDS = {
    "run": "start everything and keep it running",
    "demo": "buy something over HTTP from a running stack, step by step",
    "bench": "measure a running stack",
    "manage": "run a manage.py command against a running stack",
    "roles": "print the SQL that creates the database roles, for a server's administrator",
}
# These parse their own options.
_WITH_OPTIONS = ("bench", "manage")


def main() -> int:
    """Run `main()` of the module named after the command."""
    parser = argparse.ArgumentParser(prog="python -m config.stack")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in _COMMANDS.items():
        commands.add_parser(name, help=summary, description=summary, add_help=name not in _WITH_OPTIONS)
    given, options = parser.parse_known_args()
    command = given.command
    if options and command not in _WITH_OPTIONS:
        parser.error(f"{command} takes no options, such as {options[0]}")
    try:
        status: int = importlib.import_module(f"config.stack.{command}").main()
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
