"""Counts what a search has done, for the report."""

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

from tests.openapi import document, operation_of

WRITING = ("post", "put", "patch", "delete")


@dataclass
class Tally:
    examples: int = 0
    acts: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    done: set[str] = field(default_factory=set)
    started: float = field(default_factory=monotonic)

    def note(self, verb: str, path: str, status: int) -> None:
        """Record a request that was answered with this status."""
        self.requests += 1
        operation = operation_of(verb, path)
        if operation is not None and status < 300:
            self.done.add(operation["operationId"])

    def report(self, calls: Counter[str], deaths: Counter[str]) -> str:
        minutes = (monotonic() - self.started) / 60
        lines = (
            f"{self.examples} examples, {self.acts.total()} acts, {self.requests} requests in {minutes:.1f} minutes",
            f"calls of the gateway: {_listed(calls)}",
            f"{deaths.total()} deaths: {_listed(deaths)}",
            f"acts: {_listed(self.acts)}",
            f"never done: {self._undone()}",
        )
        return "\n".join(lines)

    def _undone(self) -> str:
        """List operations of the API that never succeeded."""
        operations = [
            o for path in document()["paths"].values() for verb, o in path.items() if verb in WRITING
        ]
        return ", ".join(sorted({o["operationId"] for o in operations} - self.done))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
