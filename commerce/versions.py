"""The versions of the API, and the changes between them (docs/versioning.md).

The code knows the newest version alone. A `VersionChange` translates one difference for clients of older versions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

Json = dict[str, Any]


class VersionChange:
    """One difference between a version and the one before.

    Renaming fields takes only `renamed`. Anything else overrides the methods, which change an object in place.
    """

    # Serializers of the answers and requests that it changes. Their subclasses are changed too.
    schemas: ClassVar[tuple[type, ...]] = ()
    # Types of events whose `data` it changes.
    events: ClassVar[tuple[str, ...]] = ()
    # New names of fields, each with the name before.
    renamed: ClassVar[Mapping[str, str]] = {}

    def __init__(self, version: str) -> None:
        self.version = version
        self._old_names = {old: new for new, old in self.renamed.items()}

    def affects(self, schema: type) -> bool:
        return issubclass(schema, self.schemas)

    def old_name(self, field: str) -> str:
        return self.renamed.get(field, field)

    def downgrade(self, payload: Json) -> None:
        """Turn part of an answer, or the data of an event, into that of the version before."""
        _replace(payload, {self.old_name(name): value for name, value in payload.items()})

    def upgrade(self, payload: Json) -> None:
        """Turn part of a request of the version before into that of this version."""
        # The version before doesn't know the new name, so it is dropped like any unknown field.
        known = {
            name: value
            for name, value in payload.items()
            if name in self._old_names or name not in self.renamed
        }
        _replace(payload, {self._old_names.get(name, name): value for name, value in known.items()})

    def downgrade_schema(self, schema: Json) -> None:
        """Turn a JSON schema into that of the version before, for the OpenAPI document."""
        schema["properties"] = {self.old_name(name): field for name, field in schema["properties"].items()}
        if "required" in schema:
            schema["required"] = [self.old_name(name) for name in schema["required"]]


def _replace(payload: Json, content: Json) -> None:
    payload.clear()
    payload.update(content)


# Each version exists once, so it is compared by identity, which makes it a cheap key of caches.
@dataclass(frozen=True, slots=True, eq=False)
class ApiVersion:
    name: str
    # What came after it, newest first. Empty for the current version, so that nothing is translated.
    later_changes: tuple[VersionChange, ...]


@cache
def api_versions() -> dict[str, ApiVersion]:
    """All versions by name, oldest to newest."""
    if list(settings.API_VERSIONS) != sorted(settings.API_VERSIONS):
        raise ImproperlyConfigured("API_VERSIONS must be sorted by name.")
    versions: list[ApiVersion] = []
    later: tuple[VersionChange, ...] = ()
    # From the newest, so that each version gets the changes of all that came after it.
    for name, module in reversed(settings.API_VERSIONS.items()):
        versions.append(ApiVersion(name, later))
        # The first version has no module, as nothing came before it.
        changes = import_module(module).CHANGES if module else ()
        later += tuple(change(name) for change in reversed(changes))
    return {version.name: version for version in reversed(versions)}


@cache
def current_version() -> ApiVersion:
    return list(api_versions().values())[-1]


def current_version_name() -> str:
    """The default of columns that keep the version that a row was made for."""
    return current_version().name


def version_of_path(path: str) -> ApiVersion:
    """The version in a path such as `/admin/<version>/...`; the current one if there is none."""
    parts = path.split("/", 3)
    return (api_versions().get(parts[2]) if len(parts) > 2 else None) or current_version()


def find_version(name: str) -> ApiVersion:
    """The version that a row names. If that was retired, the oldest that is left."""
    versions = api_versions()
    return versions.get(name) or next(iter(versions.values()))


def downgrade_event(version: ApiVersion, *, event_type: str, data: Json, made_for: str) -> Json:
    """An event's data as readers of a version know it. Data that is older than the version stays as it is."""
    # Changes that came after the event don't concern its data.
    changes = [
        change
        for change in version.later_changes
        if change.version <= made_for and event_type in change.events
    ]
    if not changes:
        return data
    # A copy, as the data belongs to a model and may be shown in other versions too.
    older: Json = orjson.loads(orjson.dumps(data))
    for change in changes:
        change.downgrade(older)
    return older
