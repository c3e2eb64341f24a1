"""How much a search has done, so that it can be quoted."""

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic


@dataclass
class Tally:
    examples: int = 0
    steps: int = 0
    requests: int = 0
    started: float = field(default_factory=monotonic)

    def report(self, calls: Counter[str], deaths: Counter[str]) -> str:
        minutes = (monotonic() - self.started) / 60
        done = (
            f"{self.examples} examples, {self.steps} steps, {self.requests} requests in {minutes:.1f} minutes"
        )
        return f"{done}\ncalls of the gateway: {_listed(calls)}\n{deaths.total()} deaths: {_listed(deaths)}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
