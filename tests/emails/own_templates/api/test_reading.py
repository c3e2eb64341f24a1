import pytest

from tests.emails.own_templates.conftest import KEY, PATH, states
from tests.problems import problem


def test_list_has_every_template_of_the_platform_and_every_own_one(shop, make_version):
    make_version(shop, locale="de")
    make_version(shop, locale="fr")
    make_version(shop, locale="cs")
    make_version(shop, locale="cs", number=2, kind="reset")
    make_version(shop, locale="it")
    make_version(shop, locale="it", number=2, kind="reset")

    found = {locale: state for (key, locale), state in states(shop.admin).items() if key == KEY}

    assert found == {
        "cs": ("platform", 2),
        "de": ("account", 1),
        "en": ("platform", 0),
        "fr": ("account", 1),
    }


def test_list_says_when_and_by_whom_a_template_was_changed(shop, make_version):
    version = make_version(shop, locale="de", note="New logo")

    rows = shop.admin.get("email/templates.json").json()["email_templates"]

    (row,) = [row for row in rows if row["version"]]
    assert row == {
        "template_key": KEY,
        "locale": "de",
        "source": "account",
        "version": 1,
        "note": "New logo",
        "author": "key:1",
        "updated_at": f"{version.created_at:%Y-%m-%dT%H:%M:%S.%fZ}",
    }


@pytest.mark.parametrize("number", [1, 3])
def test_list_takes_a_fixed_number_of_statements(shop, make_version, django_assert_num_queries, number):
    for index in range(number):
        make_version(shop, locale="de", number=index + 1)
        make_version(shop, locale="en", number=index + 1)
    shop.admin.get("email/templates.json")

    with django_assert_num_queries(5):
        assert states(shop.admin)[KEY, "de"] == ("account", number)


def test_template_of_the_platform_is_shown(shop):
    answer = shop.admin.get(f"{PATH}/de.json")

    assert answer.status_code == 200
    template = answer.json()["email_template"]
    assert "<mjml" in template.pop("body_source")
    assert "Bestellung" in template.pop("body_text")
    assert "Bestellung" in template.pop("subject")
    assert template.pop("preheader")
    assert template == {
        "template_key": KEY,
        "locale": "de",
        "source": "platform",
        "source_locale": "de",
        "version": 0,
        "note": None,
        "author": None,
        "updated_at": None,
        "warnings": [],
    }


def test_template_of_a_locale_without_one_is_that_of_the_nearest(shop, make_version):
    make_version(shop, locale="en")

    french = shop.admin.get(f"{PATH}/fr.json").json()["email_template"]
    austrian = shop.admin.get(f"{PATH}/de-AT.json").json()["email_template"]

    assert (french["source"], french["source_locale"], french["version"]) == ("account", "en", 0)
    assert (austrian["source"], austrian["source_locale"], austrian["version"]) == ("platform", "de", 0)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("email/templates/unheard.of/de.json", "template_not_found"),
        ("email/templates/%00/de.json", "template_not_found"),
        (f"{PATH}/german.json", "not_found"),
        (f"{PATH}/DE.json", "not_found"),
    ],
)
def test_template_that_does_not_exist_is_not_found(shop, path, code):
    assert problem(shop.admin.get(path)) == (404, code)


def test_templates_of_another_account_are_never_seen(shop, other_shop, make_version):
    make_version(other_shop, locale="en", subject="Theirs")
    make_version(other_shop, locale="fr", subject="Theirs")

    assert (KEY, "fr") not in states(shop.admin)
    assert states(shop.admin)[KEY, "en"] == ("platform", 0)
    assert b"Theirs" not in shop.admin.get(f"{PATH}/fr.json").content
    assert shop.admin.get(f"{PATH}/en/versions.json").json()["email_template_versions"] == []
