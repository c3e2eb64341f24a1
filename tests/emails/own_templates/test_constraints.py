import pytest
from django.db import DatabaseError, IntegrityError, transaction

from emails.own_templates.models import EmailTemplateVersion
from tests.emails.own_templates.conftest import versions


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"number": 1}, "email_template_versions_number"),
        ({"number": 0}, "email_template_versions_counted"),
        ({"kind": "reset", "subject": "x"}, "email_template_versions_text"),
        ({"kind": "reset", "body_source": "x"}, "email_template_versions_text"),
        ({"subject": ""}, "email_template_versions_text"),
        ({"body_source": ""}, "email_template_versions_text"),
        ({"kind": "restored"}, "email_template_versions_restored"),
        ({"restored_number": 1}, "email_template_versions_restored"),
        (
            {"warnings": [{"line": 1, "tag": "x", "message": "x" * 256 * 1024}]},
            "email_template_versions_warnings_size",
        ),
    ],
)
def test_version_that_breaks_a_rule_is_refused_by_the_database(shop, make_version, fields, constraint):
    make_version(shop)

    with pytest.raises(IntegrityError, match=constraint):
        make_version(shop, **{"number": 2} | fields)


@pytest.mark.parametrize("change", [lambda rows: rows.update(subject="x"), lambda rows: rows.delete()])
def test_version_is_never_changed(shop, make_version, change):
    make_version(shop)

    with shop.scope(), pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        change(EmailTemplateVersion.objects.all())

    assert versions(shop) == [("en", 1, "saved")]
