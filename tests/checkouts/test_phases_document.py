"""The table of phases and operations in docs/checkout.md matches the code."""

import re

from django.conf import settings

from checkouts.phases import ALLOWED_PHASES, OPEN_PHASES

OPERATION = re.compile(r"^\| [A-Z, ]+ `(\w+)` \|(.*)\|$", re.MULTILINE)


def test_table_of_the_document_is_that_of_the_code():
    document = (settings.BASE_DIR / "docs" / "checkout.md").read_text()
    rows = {name: [cell.strip() for cell in cells.split("|")] for name, cells in OPERATION.findall(document)}
    (head,) = re.findall(r"^\| Operation \|(.*)\|$", document, re.MULTILINE)
    phases = re.findall(r"`(\w+)`", head)

    shown = {
        name: tuple(phase for phase, after in zip(phases, cells, strict=True) if after)
        for name, cells in rows.items()
    }

    assert phases == [phase.value for phase in OPEN_PHASES]
    assert shown == {name: tuple(allowed) for name, allowed in ALLOWED_PHASES.items()}
