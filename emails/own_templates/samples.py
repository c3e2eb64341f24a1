"""Sample variables of every kind of email, for previews and for checking what a merchant saves."""

import json
from functools import cache
from pathlib import Path

from commerce.mail import email_folders


def load_sample_ctx(template_key: str) -> dict[str, object]:
    """The variables of an email except `account`. Callers must not change them."""
    return _read_json(email_folders()[template_key] / "sample.json")


# By the path instead of the key, as tests set other folders.
@cache
def _read_json(path: Path) -> dict[str, object]:
    sample: dict[str, object] = json.loads(path.read_text("utf-8"))
    return sample
