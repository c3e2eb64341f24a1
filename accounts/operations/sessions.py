"""Sessions of the back office: seen by their person, and ended by them or by an owner."""

from datetime import datetime

from accounts.models import StaffSession, User


def list_sessions(*, user: User, now: datetime) -> list[StaffSession]:
    """Return a person's sessions, the last used first."""
    sessions = StaffSession.objects.filter(user=user, expire_date__gt=now).defer("session_data")
    return list(sessions.order_by("-used_at", "pk")[:100])


def end_session(*, user: User, number: int) -> bool:
    """End one of a person's sessions, effective from its next request. Returns whether there was one."""
    sessions = StaffSession.objects.filter(user=user).only("session_key")
    keys = [session.session_key for session in sessions if session.number == number]
    ended, _ = StaffSession.objects.filter(pk__in=keys).delete()
    return bool(ended)


def end_sessions(*, user: User, but: str | None = None) -> int:
    """End all of a person's sessions, or all but the one with this key. Returns how many."""
    ended, _ = StaffSession.objects.filter(user=user).exclude(pk=but or "").delete()
    return ended
