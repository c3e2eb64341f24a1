"""`python -m config.stack run | demo | bench | manage | roles`."""

import argparse
import importlib
import sys

_COMMANDS = {
    "run": "start everything and keep it running",
    "demo": "walk through a sale over HTTP against a running stack",
    "bench": "measure a running stack",
    "manage": "run a command of manage.py against a running stack",
    "roles": "print the SQL that makes the database roles, for an administrator",
}
# They read their options themselves.
_WITH_OPTIONS = ("bench", "manage")


def main() -> int:
    """Runs `main()` of the module that has the command's name."""
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
