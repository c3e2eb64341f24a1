"""The page of licences names each library whose licence asks for more than keeping a notice."""

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What is passed on: not what only tests or the documentation need.
LOCKS = ("base", "embedded", "telemetry")
PERMISSIVE = re.compile(
    r"^(3-Clause )?(MIT|MIT-0|BSD|New BSD|BSD-\d-Clause|BSD 3-Clause|Apache-2\.0|Apache License, Version 2\.0|ISC|PSF-2\.0|"
    r"Unlicense|Apache Software|Dual)( Licen[cs]e)?$"
)
# Their packages name none.
KNOWN = {"mrml": "MIT"}


def test_page_names_the_libraries_with_further_terms():
    page = (ROOT / "docs/licences.md").read_text()
    named = set(re.findall(r"^\| ([a-z][a-z0-9-]+) \|", page, re.MULTILINE))

    assert named == {name for name, terms in _read_terms().items() if not all(map(PERMISSIVE.match, terms))}


def test_every_library_states_a_licence():
    assert [name for name, terms in _read_terms().items() if not terms] == []


def _read_terms() -> dict[str, list[str]]:
    """The parts of each library's licence, by its name. All of them, even if one may be chosen."""
    locked = {
        found[1]
        for lock in LOCKS
        for found in re.finditer(
            r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==", (ROOT / f"requirements/{lock}.txt").read_text(), re.MULTILINE
        )
    }
    terms = {}
    for name in locked:
        try:
            stated = KNOWN.get(name) or _read_licence(metadata(name))
        except PackageNotFoundError:
            # For other systems or versions of Python.
            continue
        terms[name] = [part for part in re.split(r" (?:AND|OR) |[()]", stated) if part]
    return terms


def _read_licence(about: PackageMetadata) -> str:
    """Return what a package says, in one of the three places that there are for it."""
    classifiers = [
        each.rpartition(":: ")[2]
        for each in about.get_all("Classifier") or []
        if each.startswith("License ::")
    ]
    lines = (about.get("License") or "").strip().splitlines()
    return about.get("License-Expression") or (lines or [" AND ".join(classifiers)])[0]
