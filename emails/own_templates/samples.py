"""Sample variables of every platform template, for previews and for checking what a merchant saves."""

import json
from functools import cache
from typing import Any

from django.conf import settings


@cache
def sample_ctx(template_key: str) -> dict[str, Any]:
    """What the messages of a platform template are given, but for `account`; not to be changed."""
    path = settings.BASE_DIR / "templates" / "emails" / template_key / "sample.json"
    return json.loads(path.read_text("utf-8"))
