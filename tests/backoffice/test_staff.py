"""The staff of a shop: invited by username, without revealing to an owner who has a user on the installation."""

import re

import pytest
from django.utils import timezone

from accounts.models import StaffInvitation, StaffMembership, User
from accounts.operations import archive_account, invite_member, remove_member
from commerce.backoffice.models import StaffAction
from commerce.tenancy.scope import workspace_scope
from tests.backoffice.clients import StaffClient, make_staff, make_user, messages_of
from tests.threads import run_threads

INVITE = "accounts/staffinvitation/add/"
ANSWER = "account/invitation/"


def errors_of(answer):
    return answer.context["adminform"].form.errors


def invite(shop, username, role="staff"):
    with shop.scope():
        return invite_member(username=username, role=role)


def members(shop):
    with shop.scope():
        rows = StaffMembership.objects.order_by("pk").values_list("user__username", "role")
        return dict(rows)


def offers(shop):
    with shop.scope():
        return list(StaffInvitation.objects.order_by("pk").values_list("username", "role"))


def page_without(answer, *names):
    """Return a page without what always differs: the typed name, ids, tokens and times."""
    text = re.sub(r"[0-9]+|csrf\w+\W+value=\W\w+", "", answer.content.decode())
    for name in names:
        text = text.replace(name, "")
    return text


@pytest.fixture
def guest(db):
    """A user who isn't on any shop's staff."""
    return StaffClient(make_user(username="bea", first_name="Beatrice", last_name="Secret"))


def test_invitation_answers_the_same_whether_or_not_there_is_such_a_user(shop, other_shop, owner):
    bea = make_staff(other_shop)
    User.objects.filter(pk=bea.user.pk).update(username="bea.zq", first_name="Beatrice", last_name="Secret")
    make_user(username="tom.zq", is_staff=False)
    make_user(username="ann.zq", is_active=False)

    seen = []
    for name in ("bea.zq", "eva.zq", "tom.zq", "ann.zq"):
        sent = owner.fill(INVITE, username=name, role="support")
        said = [re.sub("[0-9]+", "", message).replace(name, "") for message in messages_of(sent)]
        listed = page_without(owner.get("accounts/staffinvitation/"), name)
        again = page_without(owner.fill(INVITE, username=name, role="support"), name)
        seen.append((sent.status_code, sent["Location"], said, listed, again))
        with shop.scope():
            StaffInvitation.objects.all().delete()

    assert seen == [seen[0]] * 4
    assert "Secret" not in seen[0][3] + page_without(owner.get("accounts/staffmembership/"))
    assert list(members(shop)) == [owner.user.username]


def test_invitation_is_kept_as_it_was_typed(shop, owner):
    owner.fill(INVITE, username="nobody@example.com", role="support")

    assert offers(shop) == [("nobody@example.com", "support")]
    with shop.scope():
        assert StaffAction.objects.get().subject == "accounts.staffinvitation"


@pytest.mark.parametrize("username", ["", "two words", "x" * 151])
def test_invitation_of_what_can_be_no_username_is_a_form_error(shop, owner, username):
    answer = owner.fill(INVITE, username=username, role="staff")

    assert list(errors_of(answer)) == ["username"]
    assert offers(shop) == []


def test_invitation_of_a_member_or_of_somebody_invited_is_a_form_error(shop, owner):
    invite(shop, "bea")

    answers = [owner.fill(INVITE, username=name, role="owner") for name in ("bea", owner.user.username)]

    assert [errors_of(answer) for answer in answers] == [
        {"__all__": ["This username has already been invited"]},
        {"__all__": ["The user is already on the staff"]},
    ]
    assert offers(shop) == [("bea", "staff")]


def test_invitation_is_offered_to_its_user_and_accepted(shop, owner, guest):
    invite(shop, "bea", role="support")

    chooser = guest.get("account/")
    answer = guest.post(ANSWER, {"account_id": shop.id, "accept": ""})

    assert chooser.status_code == 200
    assert [offer.handle for offer in chooser.context["invitations"]] == [shop.handle]
    assert answer["Location"] == "/backoffice/"
    assert guest.get().context["site_subheader"] == f"{shop.handle} · Support"
    assert (members(shop)["bea"], offers(shop)) == ("support", [])
    assert "Beatrice Secret" in owner.get("accounts/staffmembership/").content.decode()
    with shop.scope():
        assert StaffAction.objects.get().username == "bea"


def test_invitation_is_declined(shop, guest):
    invite(shop, "bea")

    answer = guest.post(ANSWER, {"account_id": shop.id, "decline": ""})

    assert answer["Location"] == "/backoffice/account/"
    assert (offers(shop), "bea" in members(shop)) == ([], False)
    assert guest.get("account/").status_code == 403


def test_invitation_of_somebody_else_is_not_there(shop, other_shop, guest):
    invite(shop, "eva")
    invite(other_shop, "bea")

    offered = guest.get("account/").context["invitations"]
    answers = [
        guest.post(ANSWER, {"account_id": account_id, choice: ""})
        for account_id in (shop.id, "", "x", 2**62)
        for choice in ("accept", "decline")
    ]

    assert [offer.account_id for offer in offered] == [other_shop.id]
    assert {answer.status_code for answer in answers} == {404}
    assert (members(shop), offers(shop)) == ({}, [("eva", "staff")])


def test_invitation_that_was_withdrawn_is_not_there(shop, owner, guest):
    row = invite(shop, "bea")

    owner.post(f"accounts/staffinvitation/{row.pk}/delete/", {"post": "yes"})

    assert guest.post(ANSWER, {"account_id": shop.id, "accept": ""}).status_code == 404
    assert "bea" not in members(shop)


def test_invitation_of_an_archived_shop_is_not_there(shop, guest):
    invite(shop, "bea")
    with workspace_scope(shop.workspace_id):
        archive_account(account_id=shop.id, now=timezone.now())

    assert guest.get("account/").status_code == 403
    assert guest.post(ANSWER, {"account_id": shop.id, "accept": ""}).status_code == 404


def test_invitation_is_answered_by_a_post_alone(shop, guest):
    invite(shop, "bea")

    assert guest.get(ANSWER, account_id=shop.id, accept="").status_code == 404
    assert offers(shop) == [("bea", "staff")]


def test_removed_member_has_no_older_invitation_to_come_back_with(shop, staff_of):
    member = staff_of(shop, role="staff").user
    with shop.scope():
        StaffInvitation.objects.create(username=member.username, role="owner")
        remove_member(membership=StaffMembership.objects.get(user=member))

    assert offers(shop) == []


@pytest.mark.django_db(transaction=True)
def test_invitation_accepted_twice_at_once_makes_one_member(shop):
    user = make_user(username="bea")
    invite(shop, "bea")
    clients = [StaffClient(user) for _ in range(4)]

    answers = run_threads(4, lambda i: clients[i].post(ANSWER, {"account_id": shop.id, "accept": ""}))

    assert sorted(answer.status_code for answer in answers) == [302, 404, 404, 404]
    assert members(shop) == {"bea": "staff"}


def test_owner_can_not_add_a_member_without_an_invitation(shop, owner):
    make_user(username="bea")

    answers = [
        owner.get("accounts/staffmembership/add/"),
        owner.post("accounts/staffmembership/add/", {"user": "bea", "role": "staff"}),
        owner.post("accounts/staffmembership/add/", {"user": "eva", "role": "staff"}),
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

    answer = operator.fill("accounts/staffmembership/add/", user=username, role="staff")

    assert list(errors_of(answer)) == ["user"]
    assert members(shop) == {}


def test_member_who_is_one_already_is_a_form_error(shop, operator, staff_of):
    username = staff_of(shop).user.username

    answer = operator.fill("accounts/staffmembership/add/", user=username, role="support")

    assert errors_of(answer) == {"__all__": ["The user is already on the staff"]}
    assert members(shop) == {username: "owner"}


def test_role_of_a_member_is_changed(shop, owner, staff_of):
    member = staff_of(shop, role="staff").user
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
