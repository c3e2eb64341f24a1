"""Sessions of the back office, with what their person sees of them (Django, "Extending database-backed session engines").

Everything is kept in the session's data, and copied to columns when it is saved: whose it is, where it was begun, with
which browser, and when it was used last.
"""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY as USER_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import StaffSession
from commerce.client_address import client_address

_ADDRESS, _DEVICE, _USED_AT = "address", "device", "used_at"
# A write for every request would cost more than the time is worth.
_NOTED_EVERY = timedelta(minutes=5)


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[StaffSession]:
        return StaffSession

    def create_model_instance(self, data: dict[str, Any]) -> StaffSession:
        session: Any = super().create_model_instance(data)
        user_id, used_at = data.get(USER_KEY), data.get(_USED_AT)
        session.user_id = None if user_id is None else int(user_id)
        session.address = data.get(_ADDRESS, "")
        session.device = data.get(_DEVICE, "")
        session.used_at = None if used_at is None else datetime.fromisoformat(used_at)
        return session


def note_use(request: HttpRequest) -> None:
    """Note where and when the session of somebody who is logged in was used, every few minutes."""
    now, used_at = timezone.now(), request.session.get(_USED_AT)
    if used_at is not None and now - datetime.fromisoformat(used_at) < _NOTED_EVERY:
        return
    request.session[_USED_AT] = now.isoformat()
    request.session[_ADDRESS] = client_address(request)[:64]
    request.session[_DEVICE] = describe_browser(request.headers.get("User-Agent", ""))


# In this order, since browsers also name those that they descend from.
_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
_SYSTEMS = {
    "Windows": "Windows",
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Mac OS": "macOS",
    "Linux": "Linux",
}


def describe_browser(agent: str) -> str:
    """Describe a browser in words that people recognise: `Firefox, Windows`."""
    names = [
        next((name for mark, name in known.items() if mark in agent), "") for known in (_BROWSERS, _SYSTEMS)
    ]
    return ", ".join(filter(None, names))
