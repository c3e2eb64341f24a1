#!/usr/bin/env python
import os
import sys

from django.core.management import execute_from_command_line

# Commands may take longer than requests: migrations, imports, reconciliation. They wait for locks, but not for ever.
TIMEOUTS = {
    "DATABASE_STATEMENT_TIMEOUT_S": "0",
    "DATABASE_TRANSACTION_TIMEOUT_S": "0",
    "DATABASE_LOCK_TIMEOUT_S": "60",
    "DATABASE_IDLE_TIMEOUT_S": "600",
}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ |= TIMEOUTS | {name: os.environ[name] for name in TIMEOUTS if name in os.environ}
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        # As the shell reports programs that are ended by Control-C.
        sys.exit(130)
