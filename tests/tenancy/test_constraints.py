"""Every database constraint has a refusal, or is listed as impossible for clients to violate."""

import pytest
from django.db import connection

from commerce.errors import all_refusals
from tests.tenancy.unreachable import FRAMEWORK_TABLES, UNREACHABLE, UNREACHABLE_FORMS

# Primary keys come from sequences, and `NOT NULL` follows from the models' fields.
_CONSTRAINTS = """
    SELECT c.relname, n.conname, pg_get_constraintdef(n.oid)
      FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
     WHERE c.relnamespace = 'public'::regnamespace AND n.contype IN ('c', 'f', 'u', 'x')
     UNION ALL
    SELECT t.relname, i.relname, ''
      FROM pg_index x
      JOIN pg_class i ON i.oid = x.indexrelid
      JOIN pg_class t ON t.oid = x.indrelid
     WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_constraint n WHERE n.conindid = i.oid)
     ORDER BY 1, 2
"""


@pytest.fixture
def catalogue(db):
    """Return the definition of each constraint of the product's tables, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_CONSTRAINTS)
        return {
            name: text for table, name, text in cursor.fetchall() if not table.startswith(FRAMEWORK_TABLES)
        }


@pytest.fixture
def mapped():
    return {name for refusal in all_refusals() for name in refusal.constraints}


@pytest.fixture
def listed():
    return [name for names in UNREACHABLE.values() for name in names]


def test_every_constraint_is_mapped_to_a_refusal_or_listed_with_a_reason(catalogue, mapped, listed):
    by_form = {name for name, text in catalogue.items() if text.startswith(tuple(UNREACHABLE_FORMS))}

    unknown = catalogue.keys() - mapped - set(listed) - by_form
    assert not unknown, sorted(unknown)


def test_no_constraint_is_listed_that_is_gone_or_mapped(catalogue, mapped, listed):
    assert sorted(set(listed) - catalogue.keys()) == []
    assert sorted(set(listed) & mapped) == []
    assert sorted({name for name in listed if listed.count(name) > 1}) == []


def test_every_constraint_that_a_refusal_names_exists(catalogue, mapped):
    assert sorted(mapped - catalogue.keys()) == []


def test_a_constraint_is_mapped_to_one_refusal():
    named = [name for refusal in all_refusals() for name in refusal.constraints]

    assert sorted({name for name in named if named.count(name) > 1}) == []


@pytest.mark.parametrize("form", UNREACHABLE_FORMS)
def test_every_form_is_still_written(catalogue, form):
    assert any(text.startswith(form) for text in catalogue.values())
