"""The staff of a shop: added by operators, changed and removed by owners. See test_invitations for how people join."""

import pytest

from accounts.models import StaffMembership
from commerce.backoffice.models import StaffAction
from tests.backoffice.clients import make_user


def errors_of(answer):
    return answer.context["adminform"].form.errors


def members(shop):
    with shop.scope():
        rows = StaffMembership.objects.order_by("pk").values_list("user__username", "role")
        return dict(rows)


def test_owner_can_not_add_a_member_without_an_invitation(shop, owner):
    make_user(username="bea")

    answers = [
        owner.get("accounts/staffmembership/add/"),
        owner.post("accounts/staffmembership/add/", {"user": "bea", "role": "manager"}),
        owner.post("accounts/staffmembership/add/", {"user": "eva", "role": "manager"}),
    ]

    assert [answer.status_code for answer in answers] == [403] * 3
    assert len(members(shop)) == 1


def test_operator_adds_a_member_by_the_whole_username(shop, operator):
    make_user(username="bea")

    operator.fill("accounts/staffmembership/add/", user="bea", role="support")

    assert members(shop) == {"bea": "support"}


@pytest.mark.parametrize("username", ["nobody", "shopper", "gone", ""])
def test_user_who_is_no_staff_can_not_be_added(shop, operator, username):
    make_user(username="shopper", is_staff=False)
    make_user(username="gone", is_active=False)

    answer = operator.fill("accounts/staffmembership/add/", user=username, role="manager")

    assert list(errors_of(answer)) == ["user"]
    assert members(shop) == {}


def test_member_who_is_one_already_is_a_form_error(shop, operator, staff_of):
    username = staff_of(shop).user.username

    answer = operator.fill("accounts/staffmembership/add/", user=username, role="support")

    assert errors_of(answer) == {"__all__": ["The user is already on the staff"]}
    assert members(shop) == {username: "owner"}


def test_role_of_a_member_is_changed(shop, owner, staff_of):
    member = staff_of(shop, role="manager").user
    with shop.scope():
        membership = StaffMembership.objects.get(user=member)

    owner.fill(f"accounts/staffmembership/{membership.pk}/change/", role="support")

    with shop.scope():
        membership.refresh_from_db()
    assert (membership.role, membership.user_id) == ("support", member.pk)


def test_member_is_removed(shop, owner, staff_of):
    member = staff_of(shop).user
    with shop.scope():
        membership = StaffMembership.objects.get(user=member)

    owner.post(f"accounts/staffmembership/{membership.pk}/delete/", {"post": "yes"})

    with shop.scope():
        assert [row.user_id for row in StaffMembership.objects.all()] == [owner.user.pk]
        assert StaffAction.objects.get().kind == "deleted"


def test_owner_can_not_take_the_own_rights_away(shop, owner):
    with shop.scope():
        own = StaffMembership.objects.get()
    path = f"accounts/staffmembership/{own.pk}/"

    answers = [
        owner.post(f"{path}change/", {"role": "support"}),
        owner.post(f"{path}delete/", {"post": "yes"}),
    ]
    owner.post(
        "accounts/staffmembership/",
        {"action": "delete_selected", "_selected_action": [own.pk], "index": 0, "post": "yes"},
    )

    assert [answer.status_code for answer in answers] == [403, 403]
    with shop.scope():
        own.refresh_from_db()
    assert own.role == "owner"
