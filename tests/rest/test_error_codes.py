"""All refusals: each code has one status and is documented, and lost races give the same refusal as checks."""

from collections import Counter, defaultdict

import pytest
from django.conf import settings
from django.db import connection

from commerce.errors import all_refusals
from commerce.rest.error_document import make_error_document


def test_code_has_one_status():
    statuses = defaultdict(set)
    for refusal in all_refusals():
        statuses[refusal.code].add(refusal.status)

    assert {code: found for code, found in statuses.items() if len(found) > 1} == {}


def test_codes_are_in_snake_case_and_have_titles():
    assert all(
        refusal.code.replace("_", "").isalnum() and refusal.code.islower() for refusal in all_refusals()
    )
    assert all(refusal.title[0].isupper() and not refusal.title.endswith(".") for refusal in all_refusals())


def test_committed_document_of_error_codes_is_current():
    # `make openapi` rewrites it.
    assert (settings.BASE_DIR / "docs" / "errors.md").read_text() == make_error_document()


def test_constraint_means_one_refusal():
    names = Counter(name for refusal in all_refusals() for name in refusal.constraints)

    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.django_db
def test_constraints_of_refusals_exist():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint UNION SELECT relname FROM pg_class WHERE relkind = 'i'"
        )
        existing = {row[0] for row in cursor.fetchall()}

    assert {name for refusal in all_refusals() for name in refusal.constraints} - existing == set()
