"""The dashboard and the alert rules name only metrics and labels that /metrics exports."""

import json
import re
from collections import defaultdict
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from commerce.events.types import EventType
from commerce.metrics import count_events, count_loop_failure, count_run

FOLDER = settings.BASE_DIR / "docs" / "monitoring"

METRIC = re.compile(r"\b(commerce_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
SHOWN = re.compile(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}")
# Prometheus adds it to the series of a histogram.
OF_HISTOGRAMS = "le"


def dashboard() -> dict[str, Any]:
    return json.loads((FOLDER / "grafana.json").read_text())


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return group["rules"]


def targets() -> list[tuple[str, str]]:
    """Each expression with the text that shows its labels."""
    of_panels = [
        (target["expr"], target["legendFormat"])
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    ]
    return of_panels + [(rule["expr"], " ".join(rule["annotations"].values())) for rule in rules()]


@pytest.fixture
def exported(shop) -> dict[str, dict[str, set[str]]]:
    """The values of each label by metric, after some traffic."""
    for outcome in ("succeeded", "retried", "dead"):
        count_run(task_name="monitored", outcome=outcome)
    count_loop_failure("monitored")
    count_events(dict.fromkeys(EventType.values, 1) | {"email.sent": 1})
    shop.admin.get("markets.json")
    shop.storefront.get("markets.json")
    found: dict[str, dict[str, set[str]]] = {}
    for family in text_string_to_metric_families(Client().get("/metrics").content.decode()):
        for sample in family.samples:
            labels = found.setdefault(sample.name, defaultdict(set))
            for name, value in sample.labels.items():
                labels[name].add(value)
    return found


@pytest.mark.django_db(transaction=True)
def test_metrics_and_labels_that_are_named_are_exported(exported):
    named = set()
    for expression, shown in targets():
        found = METRIC.findall(expression)
        assert found, expression
        labels = set(SHOWN.findall(shown)) - {"value"}
        labels |= {name.strip() for group in GROUPED.findall(expression) for name in group.split(",")}
        for metric, matchers in found:
            named.add(metric)
            assert metric in exported, expression
            assert {name for name, _, _ in MATCHER.findall(matchers)} <= exported[metric].keys(), expression
            assert labels <= {*exported[metric], OF_HISTOGRAMS}, expression
    # What the documentation lists is shown, each histogram by one of its series.
    document = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    section = document.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(commerce_\w+)`", section, re.MULTILINE))
    assert len(listed) == 10
    assert {metric for metric in listed if not any(name.startswith(metric) for name in named)} == set()


@pytest.mark.django_db(transaction=True)
def test_values_of_labels_that_are_named_exist(exported):
    for expression, _ in targets():
        for metric, matchers in METRIC.findall(expression):
            for name, operator, value in MATCHER.findall(matchers):
                # Statuses aren't all among the few answers of this test.
                if name == "status" and metric.startswith("commerce_requests"):
                    continue
                wanted = value.split("|") if "~" in operator else [value]
                assert set(wanted) <= exported[metric][name], expression


def test_every_alert_says_what_is_wrong_and_how_bad_it_is():
    assert len(rules()) >= 9
    for rule in rules():
        assert rule["annotations"]["summary"].strip()
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert len({rule["alert"] for rule in rules()}) == len(rules())


def test_panels_have_places_of_their_own():
    panels = dashboard()["panels"]
    cells = [
        (column, row)
        for panel in panels
        for column in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for row in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(set(cells)) == len(cells)
    assert max(column for column, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)
