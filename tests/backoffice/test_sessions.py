"""Sessions of the back office: seen and ended by their person, and ended by owners."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import StaffMembership, StaffSession
from accounts.operations import UNLIMITED, remove_member
from accounts.sessions import describe_browser
from commerce.backoffice.models import StaffAction
from tests.backoffice.clients import StaffClient, make_staff, make_user

SECURITY = "security/"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


def is_open(client):
    return not client.get("account/").get("Location", "").startswith("/backoffice/login/")


def sessions_on(page):
    return [(session.device, session.address, session.pk) for session in page.context["sessions"]]


def membership_of(shop, client):
    with shop.scope():
        return StaffMembership.objects.get(user=client.user)


@pytest.fixture
def clients(shop):
    """A member in three sessions."""
    first = make_staff(shop)
    return [first, *(StaffClient(first.user, headers={"User-Agent": FIREFOX}) for _ in range(2))]


def test_person_sees_only_own_sessions(shop, clients):
    other = make_staff(shop)
    for client in (*clients, other):
        client.get("account/")

    page = clients[1].get(SECURITY)

    seen = sessions_on(page)
    assert {key for *_, key in seen} == {client.browser.session.session_key for client in clients}
    assert {(device, address) for device, address, _ in seen} == {
        ("", "127.0.0.1"),
        ("Firefox, Windows", "127.0.0.1"),
    }
    # The key would let anybody in who sees the page.
    assert not any(key in page.content.decode() for *_, key in seen)


def test_use_is_noted_every_few_minutes(shop, owner):
    owner.get("account/")
    first = StaffSession.objects.get(user=owner.user).used_at
    owner.get("account/")
    again = StaffSession.objects.get(user=owner.user).used_at
    session = owner.browser.session
    session["used_at"] = (timezone.now() - timedelta(minutes=6)).isoformat()
    session.save()
    owner.get("account/")

    assert again == first
    assert StaffSession.objects.get(user=owner.user).used_at > first


def test_one_session_is_ended(clients):
    for client in clients:
        client.get("account/")
    ended = StaffSession.objects.get(pk=clients[2].browser.session.session_key)

    clients[0].post(SECURITY, {"action": "end_session", "session": ended.number})

    assert [is_open(client) for client in clients] == [True, True, False]


def test_all_other_sessions_are_ended(clients):
    for client in clients:
        client.get("account/")

    clients[0].post(SECURITY, {"action": "end_other_sessions"})

    assert [is_open(client) for client in clients] == [True, False, False]


def test_session_of_somebody_else_stays(shop, owner):
    other = make_staff(shop)
    other.get("account/")
    number = StaffSession.objects.get(user=other.user).number

    owner.post(SECURITY, {"action": "end_session", "session": number})

    assert is_open(other)


def test_owner_ends_the_sessions_of_a_member(shop, owner, clients):
    row = membership_of(shop, clients[0])

    owner.confirm(f"accounts/staffmembership/{row.pk}/end_sessions/")

    assert [is_open(client) for client in clients] == [False] * 3
    assert is_open(owner)
    with shop.scope():
        assert StaffAction.objects.get().summary == "logged out everywhere"


def test_member_with_fewer_rights_ends_nobody_elses_sessions(shop, clients, staff_of):
    manager = staff_of(shop, role="manager")

    manager.confirm(f"accounts/staffmembership/{membership_of(shop, clients[0]).pk}/end_sessions/")

    assert all(map(is_open, clients))


def test_owner_of_another_shop_ends_no_sessions(shop, other_shop, clients):
    owner = make_staff(other_shop)

    answer = owner.confirm(f"accounts/staffmembership/{membership_of(shop, clients[0]).pk}/end_sessions/")

    assert answer.status_code == 404
    assert all(map(is_open, clients))


def test_sessions_end_with_the_membership(shop, owner, clients):
    with shop.scope():
        remove_member(grantor=UNLIMITED, membership_id=StaffMembership.objects.get(user=clients[0].user).pk)

    assert [is_open(client) for client in clients] == [False] * 3


def test_sessions_end_with_the_password(clients):
    user = clients[0].user
    user.set_password("correct horse")
    user.save()
    here, elsewhere = StaffClient(user), StaffClient(user)
    new = {"new_password1": "battery staple", "new_password2": "battery staple"}

    here.post("password_change/", {"old_password": "correct horse"} | new)

    assert [is_open(client) for client in (here, elsewhere, *clients)] == [True] + [False] * 4
    assert [key for *_, key in sessions_on(here.get(SECURITY))] == [here.browser.session.session_key]


@pytest.mark.django_db
def test_sessions_end_when_a_user_is_deactivated():
    client = StaffClient(make_user())
    client.user.is_active = False
    client.user.save()

    assert not is_open(client)


@pytest.mark.django_db
def test_visitor_who_logs_out_leaves_no_session():
    client = StaffClient(make_user())
    client.post("logout/")

    assert not StaffSession.objects.exists()
    assert Client().get("/backoffice/login/").status_code == 200


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox, Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36", "Chrome, Linux"),
        ("Mozilla/5.0 (Linux; Android 16) Chrome/149.0 Mobile Safari/537.36", "Chrome, Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/26.0 Safari/605.1.15", "Safari, macOS"),
        ("curl/8.0", ""),
        ("<script>", ""),
    ],
)
def test_browser_is_described_in_words(agent, words):
    assert describe_browser(agent) == words
