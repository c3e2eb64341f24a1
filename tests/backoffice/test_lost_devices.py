"""An owner resets the second step of a member who has lost the device."""

import pytest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import StaffMembership, StaffSession, User
from accounts.operations.two_factor import make_recovery_codes, note_enrolled
from commerce.backoffice.models import StaffAction
from tests.backoffice.clients import make_staff, messages_of


def enrol(client):
    """Give a member an authenticator app and recovery codes."""
    TOTPDevice.objects.create(user=client.user, name="Phone", confirmed=True)
    make_recovery_codes(user=client.user)
    note_enrolled(client.user)


def has_second_step(client):
    devices = TOTPDevice.objects.filter(user=client.user).count()
    codes = StaticDevice.objects.filter(user=client.user).count()
    return (User.objects.get(pk=client.user.pk).has_second_step, devices, codes)


def reset(client, shop, member):
    with shop.scope():
        pk = StaffMembership.objects.get(account_id=shop.id, user=member.user).pk
    return client.confirm(f"accounts/staffmembership/{pk}/reset_second_step/")


def summaries(shop):
    with shop.scope():
        return list(StaffAction.objects.values_list("summary", flat=True))


def test_owner_resets_the_second_step_of_a_member(shop, owner):
    member, other = make_staff(shop, role="manager"), make_staff(shop)
    for client in (member, other):
        enrol(client)
        client.get("account/")

    reset(owner, shop, member)

    assert has_second_step(member) == (False, 0, 0)
    assert has_second_step(other) == (True, 1, 1)
    assert not StaffSession.objects.filter(user=member.user).exists()
    assert StaffSession.objects.filter(user=other.user).exists()
    assert summaries(shop) == ["reset the second step of the log-in"]


def test_member_without_a_second_step_stays_logged_in(shop, owner):
    member = make_staff(shop, role="manager")

    answer = reset(owner, shop, member)

    assert messages_of(answer) == ["The member has no second step."]
    assert StaffSession.objects.filter(user=member.user).exists()
    assert summaries(shop) == []


def test_owner_of_one_shop_resets_nobody_who_may_enter_another(shop, other_shop, owner):
    member = make_staff(shop, other_shop, role="read_only")
    enrol(member)

    answer = reset(owner, shop, member)

    assert messages_of(answer) == ["Only an operator may reset the second step of this member."]
    assert has_second_step(member) == (True, 1, 1)


@pytest.mark.parametrize("fields", [{"is_superuser": True}, {"is_active": False}])
def test_owner_resets_neither_operators_nor_people_who_were_deactivated(shop, owner, fields):
    member = make_staff(shop, role="read_only")
    enrol(member)
    User.objects.filter(pk=member.user.pk).update(**fields)

    answer = reset(owner, shop, member)

    assert messages_of(answer) == ["Only an operator may reset the second step of this member."]
    assert has_second_step(member) == (True, 1, 1)


def test_owner_of_another_shop_resets_nobody(shop, other_shop):
    member = make_staff(shop, role="manager")
    enrol(member)

    answer = reset(make_staff(other_shop), shop, member)

    assert answer.status_code == 404
    assert has_second_step(member) == (True, 1, 1)


def test_own_second_step_is_not_reset_without_the_password(shop, owner):
    TOTPDevice.objects.create(user=owner.user, name="Phone", confirmed=True)

    answer = reset(owner, shop, owner)

    assert messages_of(answer) == ["Change your own devices under “Your log-in”."]
    assert TOTPDevice.objects.filter(user=owner.user).exists()


@pytest.mark.parametrize("scopes", [["write_staff"], ["read_staff"], ["write_orders"]])
def test_only_owners_reset_a_second_step(shop, client_with, scopes):
    member = make_staff(shop, role="read_only")
    enrol(member)

    answer = reset(client_with(*scopes), shop, member)

    assert answer.status_code == 403
    assert has_second_step(member) == (True, 1, 1)
