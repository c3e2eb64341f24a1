"""`manage.py check` finds an email's folder that can't be read."""

import pytest
from django.core.checks import run_checks

SHARED = {
    "body.mjml": "<mj-section></mj-section>",
    "body.txt": "${words}",
    "sample.json": "{}",
    "en.toml": 'subject = "s"\npreheader = "p"\ntitle = "t"\nreason = "r"\nwords = "w"\n',
}


def errors(settings, folder, **files):
    (folder / "parcel.returned").mkdir()
    for name, text in (SHARED | files).items():
        if text is not None:
            (folder / "parcel.returned" / name).write_text(text)
    settings.EMAIL_FOLDERS = [*settings.EMAIL_FOLDERS, folder]
    return [error.msg for error in run_checks(tags=["templates"]) if error.id == "emails.E002"]


def test_whole_folder_is_fine(settings, tmp_path):
    assert errors(settings, tmp_path) == []


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"body.txt": "${unheard_of}"}, "KeyError: 'unheard_of'"),
        ({"body.txt": None}, "FileNotFoundError"),
        ({"sample.json": None}, "FileNotFoundError"),
        ({"sample.json": "{"}, "JSONDecodeError"),
        ({"en.toml": "subject = "}, "TOMLDecodeError"),
        ({"en.toml": 'subject = "s"'}, "KeyError"),
    ],
)
def test_incomplete_folder_is_an_error(settings, tmp_path, files, said):
    (error,) = errors(settings, tmp_path, **files)

    assert said in error
