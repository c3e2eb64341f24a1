import pytest

from tests.emails.own_templates.conftest import KEY, PATH, body, versions
from tests.problems import problem


def test_reset_goes_back_to_the_platforms_template(shop, make_version):
    make_version(shop, locale="de")

    answer = shop.admin.delete(f"{PATH}/de.json")

    assert answer.status_code == 200
    template = answer.json()["email_template"]
    assert (template["source"], template["version"]) == ("platform", 2)
    assert "Bestellung" in template["subject"]
    assert versions(shop) == [("de", 1, "saved"), ("de", 2, "reset")]


def test_reset_again_gives_the_same_answer(shop, make_version):
    make_version(shop, locale="de")
    first = shop.admin.delete(f"{PATH}/de.json").json()

    assert shop.admin.delete(f"{PATH}/de.json").json() == first
    assert len(versions(shop)) == 2


def test_reset_of_what_was_never_changed_writes_nothing(shop):
    answer = shop.admin.delete(f"{PATH}/de.json")

    assert answer.json()["email_template"]["version"] == 0
    assert versions(shop) == []


def test_reset_for_another_version_is_refused(shop, make_version):
    make_version(shop, locale="de")

    answer = shop.admin.delete(f"{PATH}/de.json?expected_version=3")

    assert problem(answer) == (409, "version_conflict")
    assert answer.json()["current_version"] == 1
    assert versions(shop) == [("de", 1, "saved")]


@pytest.mark.parametrize("value", ["x", "", "1.5", "-1", "99999999999"])
def test_reset_with_a_version_that_is_none_is_refused(shop, make_version, value):
    make_version(shop, locale="de")

    answer = shop.admin.delete(f"{PATH}/de.json?expected_version={value}")

    assert answer.json()["errors"][0]["field"] == "expected_version"
    assert versions(shop) == [("de", 1, "saved")]


def test_template_is_saved_after_a_reset(shop, renderer, make_version):
    make_version(shop, locale="de")
    make_version(shop, locale="de", number=2, kind="reset")

    answer = shop.admin.put(f"{PATH}/de.json", body(expected_version=2))

    assert (answer.json()["email_template"]["source"], answer.json()["email_template"]["version"]) == (
        "account",
        3,
    )


def test_versions_come_newest_first_and_page_by_page(shop, make_version):
    for number in (1, 2, 3):
        make_version(shop, locale="de", number=number)
    make_version(shop, locale="en")

    first = shop.admin.get(f"{PATH}/de/versions.json?limit=2").json()
    second = shop.admin.get(f"{PATH}/de/versions.json?limit=2&cursor_id={first['next_cursor_id']}").json()

    assert [row["version"] for row in first["email_template_versions"]] == [3, 2]
    assert [row["version"] for row in second["email_template_versions"]] == [1]
    assert second["next_cursor_id"] is None


@pytest.mark.parametrize("number", [1, 3])
def test_versions_take_a_fixed_number_of_statements(shop, make_version, django_assert_num_queries, number):
    for index in range(number):
        make_version(shop, locale="de", number=index + 1)
    shop.admin.get(f"{PATH}/de/versions.json")

    with django_assert_num_queries(5):
        shown = shop.admin.get(f"{PATH}/de/versions.json").json()["email_template_versions"]
    assert len(shown) == number


def test_version_is_shown_with_its_text(shop, make_version):
    version = make_version(shop, locale="de", preheader="Soon", note="Why")

    shown = shop.admin.get(f"{PATH}/de/versions/{version.pk}.json").json()["email_template_version"]

    assert shown == {
        "id": str(version.pk),
        "template_key": KEY,
        "locale": "de",
        "version": 1,
        "kind": "saved",
        "restored_version": None,
        "note": "Why",
        "author": "key:1",
        "warnings": [],
        "created_at": f"{version.created_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "subject": version.subject,
        "preheader": "Soon",
        "body_source": version.body_source,
        "body_text": None,
    }


def test_version_of_another_template_or_account_is_not_found(shop, other_shop, make_version):
    german = make_version(shop, locale="de")
    foreign = make_version(other_shop, locale="en")

    for version in (german, foreign):
        path = f"{PATH}/en/versions/{version.pk}"
        assert problem(shop.admin.get(f"{path}.json")) == (404, "not_found")
        assert problem(shop.admin.post(f"{path}/restore.json", {"expected_version": 0})) == (404, "not_found")


def test_restored_version_is_a_new_one_with_the_old_text(shop, make_version):
    odd = [{"line": 2, "tag": "mj-text", "message": "odd"}]
    old = make_version(shop, locale="de", subject="Old", warnings=odd)
    make_version(shop, locale="de", number=2, subject="New")

    answer = shop.admin.post(
        f"{PATH}/de/versions/{old.pk}/restore.json", {"expected_version": 2, "note": "It was better"}
    )

    assert answer.status_code == 200
    template = answer.json()["email_template"]
    assert (template["subject"], template["version"], template["note"]) == ("Old", 3, "It was better")
    assert template["warnings"] == odd
    newest = shop.admin.get(f"{PATH}/de/versions.json").json()["email_template_versions"][0]
    assert (newest["kind"], newest["restored_version"]) == ("restored", 1)


def test_restored_reset_goes_back_to_the_platforms_template(shop, make_version):
    make_version(shop, locale="de")
    reset = make_version(shop, locale="de", number=2, kind="reset")
    make_version(shop, locale="de", number=3)

    answer = shop.admin.post(f"{PATH}/de/versions/{reset.pk}/restore.json", {"expected_version": 3})

    assert answer.json()["email_template"]["source"] == "platform"
    assert versions(shop)[-1] == ("de", 4, "reset")


def test_restoring_for_another_version_is_refused(shop, make_version):
    old = make_version(shop, locale="de")
    make_version(shop, locale="de", number=2)

    answer = shop.admin.post(f"{PATH}/de/versions/{old.pk}/restore.json", {"expected_version": 1})

    assert problem(answer) == (409, "version_conflict")
    assert len(versions(shop)) == 2


def test_list_has_the_first_warnings_of_each_version_and_the_version_all(shop, make_version):
    warnings = [{"line": number, "tag": "mj-x", "message": "odd"} for number in range(1, 51)]
    version = make_version(shop, locale="de", warnings=warnings)
    make_version(shop, locale="de", number=2)

    listed = shop.admin.get(f"{PATH}/de/versions.json").json()["email_template_versions"]
    shown = shop.admin.get(f"{PATH}/de/versions/{version.pk}.json").json()["email_template_version"]

    assert [row["warnings"] for row in listed] == [[], warnings[:10]]
    assert shown["warnings"] == warnings


def test_restored_version_has_no_more_warnings_than_one_may_have(shop, make_version):
    """An older release stored more of them."""
    odd = [{"line": 1, "tag": "mj-" + "x" * 180, "message": "y" * 400}] * 300
    old = make_version(shop, locale="de", warnings=odd)

    answer = shop.admin.post(f"{PATH}/de/versions/{old.pk}/restore.json", {"expected_version": 1})

    assert (
        answer.json()["email_template"]["warnings"]
        == [{"line": 1, "tag": "mj-" + "x" * 97, "message": "y" * 300}] * 101
    )
