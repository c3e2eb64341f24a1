"""The versions of the API. docs/versioning.md explains how to add one. Imports nothing, as tools need the names too."""

from typing import Final

# By name (a date, so that names sort by age), oldest to newest: the module that lists what the version changed. The
# first version changed nothing.
API_VERSIONS: Final[dict[str, str]] = {"2026-01": ""}
CURRENT_VERSION: Final = list(API_VERSIONS)[-1]
