"""Invitations to the staff: a link by email that works once, and tells nobody which addresses have log-ins."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, StaffInvitation, StaffMembership, User
from accounts.operations import UNLIMITED, archive_account, create_role, invite_member, remove_member
from accounts.operations.invitations import make_token
from commerce.backoffice.models import StaffAction
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.tenancy.scope import workspace_scope
from emails.models import EmailDelivery
from tests.backoffice.clients import StaffClient, make_staff, make_user, messages_of
from tests.threads import run_threads

INVITATIONS = "accounts/staffinvitation/"
ANSWER = "/backoffice/invitation/"
PERSON = {"username": "bea", "first_name": "Bea", "password": "correct horse", "repeated": "correct horse"}


def invite(shop, email="bea@example.com", role="manager"):
    with shop.scope():
        return invite_member(grantor=UNLIMITED, email=email, role=role, now=timezone.now())


def members(shop):
    with shop.scope():
        rows = StaffMembership.objects.order_by("pk").values_list("user__username", "role")
        return dict(rows)


def offers(shop):
    with shop.scope():
        return list(StaffInvitation.objects.order_by("pk").values_list("email", "role"))


def open_link(invitation, browser=None):
    """Open the link of an invitation as its recipient does, and return the browser."""
    browser = browser or Client()
    browser.get(f"{ANSWER}{make_token(invitation)}/", follow=True)
    return browser


def texts_in(folder, kind="html"):
    return [path.read_text() for path in sorted(folder.glob(f"*.{kind}"))]


def links_in(folder):
    return sorted(set(re.findall(r"/backoffice/invitation/[\w-]+/", "".join(texts_in(folder)))))


@pytest.mark.django_db(transaction=True)
def test_invitation_is_sent_by_the_installation_and_opens_the_shop(shop, owner, mail_dir):
    owner.fill(f"{INVITATIONS}add/", email="bea@example.com", role="support")
    assert run_due()
    (link,) = links_in(mail_dir)
    browser = Client()

    page = browser.get(link, follow=True)
    joined = browser.post(ANSWER, PERSON)

    assert page.redirect_chain == [(ANSWER, 302)]
    assert f"{shop.handle.title()} invites you to its staff as Support." in page.content.decode()
    assert joined["Location"] == "/backoffice/"
    assert browser.get("/backoffice/").context["site_subheader"] == f"{shop.handle} · Support"
    assert (members(shop)["bea"], offers(shop)) == ("support", [])
    user = User.objects.get(username="bea")
    assert (user.email, user.is_staff, user.is_superuser) == ("bea@example.com", True, False)
    assert user.check_password("correct horse")
    with shop.scope():
        actions = StaffAction.objects.order_by("pk").values_list("username", "subject")
        assert list(actions) == [
            (owner.user.username, "accounts.staffinvitation"),
            ("bea", "accounts.staffmembership"),
        ]


@pytest.mark.django_db(transaction=True)
def test_only_the_hash_of_the_token_is_stored_and_no_delivery_of_the_shop(shop, mail_dir):
    token = make_token(invite(shop))
    assert run_due()

    with shop.scope():
        row = StaffInvitation.objects.get()
        dispatch = OutboxDispatch.objects.get(target__task_name="send_staff_invitation")
        assert token not in repr(row.__dict__) + repr(dispatch.__dict__)
        assert dispatch.status == "succeeded"
        assert not EmailDelivery.objects.exists()
    assert token in links_in(mail_dir)[0]


def test_key_without_every_scope_does_not_see_the_dispatch(shop):
    invite(shop)

    answer = shop.client_with("write_emails", "read_orders").get("outbox_dispatches.json")

    assert answer.json()["outbox_dispatches"] == []


def test_invitation_answers_the_same_whether_or_not_the_address_has_a_log_in(shop, owner):
    make_user(username="eva", email="bea@example.com", first_name="Secret")
    seen = []
    for email in ("bea@example.com", "nobody@example.com"):
        sent = owner.fill(f"{INVITATIONS}add/", email=email, role="support")
        listed = re.sub("[0-9]+|csrf\\w+\\W+value=\\W\\w+", "", owner.get(INVITATIONS).content.decode())
        said = [re.sub("[0-9]+", "", message).replace(email, "") for message in messages_of(sent)]
        again = owner.fill(f"{INVITATIONS}add/", email=email.upper(), role="support")
        with shop.scope():
            browser = open_link(StaffInvitation.objects.get())
            StaffInvitation.objects.all().delete()
        page = re.sub("[0-9]+|csrf\\w+\\W+value=\\W\\w+", "", browser.get(ANSWER).content.decode())
        errors = again.context["adminform"].form.errors
        seen.append((sent.status_code, said, listed.replace(email, ""), errors, page))

    assert seen[0] == seen[1]
    assert seen[0][3] == {"__all__": ["This address has already been invited"]}
    assert "Secret" not in seen[0][2] + seen[0][4]


def test_person_with_a_log_in_accepts_with_it(shop, other_shop):
    bea = make_staff(other_shop)
    make_user(username="unused", email="bea@example.com")
    browser = open_link(invite(shop, role="read_only"), bea.browser)

    page = browser.get(ANSWER)
    joined = browser.post(ANSWER, {"accept": ""})

    assert f"You are logged in as {bea.user.username}." in page.content.decode()
    assert joined["Location"] == "/backoffice/"
    assert members(shop) == {bea.user.username: "read_only"}
    assert bea.get().context["site_subheader"] == f"{shop.handle} · Read-only"


def test_link_survives_the_log_in_of_its_recipient(shop):
    user = make_user(username="ann", password="correct horse")
    browser = open_link(invite(shop))

    page = browser.get(ANSWER)
    browser.post(f"/backoffice/login/?next={ANSWER}", {"username": "ann", "password": "correct horse"})
    browser.post(ANSWER, {"accept": ""})

    assert f"/backoffice/login/?next={ANSWER}" in page.content.decode()
    assert members(shop) == {user.username: "manager"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "ann"}, "username"),
        ({"username": "someone@example.com"}, "username"),
        ({"password": "short", "repeated": "short"}, "password"),
        ({"repeated": "different horse"}, "repeated"),
    ],
)
def test_bad_log_in_is_refused_and_the_link_still_works(shop, changes, field):
    make_user(username="ann")
    browser = open_link(invite(shop))

    refused = browser.post(ANSWER, PERSON | changes)
    browser.post(ANSWER, PERSON)

    assert list(refused.context["form"].errors) == [field]
    assert members(shop) == {"bea": "manager"}


def test_link_works_once(shop):
    invitation = invite(shop)
    open_link(invitation).post(ANSWER, PERSON)
    late = open_link(invitation)

    assert late.get(ANSWER).status_code == 404
    assert late.post(ANSWER, PERSON | {"username": "eva"}).status_code == 404
    assert members(shop) == {"bea": "manager"}
    assert not User.objects.filter(username="eva").exists()


def test_link_ends_after_a_week(shop):
    invitation = invite(shop)
    with shop.scope():
        StaffInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert open_link(invitation).get(ANSWER).status_code == 404


def test_link_ends_when_the_invitation_is_withdrawn(shop, owner):
    invitation = invite(shop)
    browser = open_link(invitation)

    owner.post(f"{INVITATIONS}{invitation.pk}/delete/", {"post": "yes"})

    assert browser.post(ANSWER, PERSON).status_code == 404
    assert members(shop) == {owner.user.username: "owner"}


@pytest.mark.django_db(transaction=True)
def test_link_ends_when_it_is_sent_again(shop, owner, mail_dir):
    invitation = invite(shop)
    run_due()
    owner.confirm(f"{INVITATIONS}{invitation.pk}/send_again/")
    run_due()

    first, second = sorted(links_in(mail_dir), key=lambda link: make_token(invitation) not in link)
    assert Client().get(first, follow=True).status_code == 404
    assert Client().get(second, follow=True).status_code == 200


def test_link_of_an_archived_shop_ends(shop):
    invitation = invite(shop)
    with workspace_scope(shop.workspace_id):
        archive_account(account_id=shop.id, now=timezone.now())

    assert open_link(invitation).get(ANSWER).status_code == 404


@pytest.mark.parametrize("token", ["x", "é", "a" * 500])
@pytest.mark.django_db
def test_unknown_link_says_so(token):
    answer = Client().get(f"{ANSWER}{token}/", follow=True)

    assert answer.status_code == 404
    assert "This invitation has ended" in answer.content.decode()


def test_invitation_is_declined(shop):
    browser = open_link(invite(shop))

    answer = browser.post(ANSWER, {"decline": ""})

    assert answer.status_code == 200
    assert (offers(shop), members(shop)) == ([], {})


def test_member_who_accepts_keeps_the_role(shop, owner):
    browser = open_link(invite(shop, role="read_only"), owner.browser)

    browser.post(ANSWER, {"accept": ""})

    assert members(shop) == {owner.user.username: "owner"}


def test_answer_needs_the_pages_token(shop):
    browser = open_link(invite(shop), Client(enforce_csrf_checks=True))

    assert browser.post(ANSWER, PERSON).status_code == 403
    assert members(shop) == {}


@pytest.mark.parametrize("email", ["", "bea", "bea@", "x" * 250 + "@example.com"])
def test_invitation_needs_an_address(shop, owner, email):
    answer = owner.fill(f"{INVITATIONS}add/", email=email, role="manager")

    assert list(answer.context["adminform"].form.errors) == ["email"]
    assert offers(shop) == []


def test_invitation_shows_the_shops_own_role(shop):
    with shop.scope():
        role = create_role(grantor=UNLIMITED, fields={"name": "Warehouse", "scopes": ["write_inventory"]})
    browser = open_link(invite(shop, role=str(role.pk)))

    assert "as Warehouse." in browser.get(ANSWER).content.decode()
    browser.post(ANSWER, PERSON)
    assert browser.get("/backoffice/").context["site_subheader"] == f"{shop.handle} · Warehouse"


@pytest.mark.django_db(transaction=True)
def test_name_of_a_shop_is_only_text(shop, mail_dir):
    with workspace_scope(shop.workspace_id):
        Account.objects.filter(pk=shop.id).update(name="<b>Shop</b>\nBcc: all@example.com")
    browser = open_link(invite(shop))
    run_due()

    assert "<b>Shop</b>" not in browser.get(ANSWER).content.decode()
    assert not any(re.search("^Bcc:", text, re.MULTILINE) for text in texts_in(mail_dir, "eml"))


def test_invitations_of_a_shop_are_limited_by_address(shop, owner):
    invitation = invite(shop)

    for _ in range(5):
        owner.confirm(f"{INVITATIONS}{invitation.pk}/send_again/")

    with shop.scope():
        assert StaffInvitation.objects.get().sendings == 5


def test_removed_member_has_no_open_invitation_to_come_back_with(shop, staff_of):
    member = staff_of(shop, role="manager").user
    User.objects.filter(pk=member.pk).update(email="bea@example.com")
    invite(shop, email="BEA@example.com", role="owner")

    with shop.scope():
        remove_member(grantor=UNLIMITED, membership_id=StaffMembership.objects.get(user=member).pk)

    assert offers(shop) == []


def test_invitation_of_another_shop_can_be_neither_withdrawn_nor_sent_again(other_shop, owner):
    foreign = invite(other_shop)

    answers = [
        owner.post(f"{INVITATIONS}{foreign.pk}/delete/", {"post": "yes"}),
        owner.confirm(f"{INVITATIONS}{foreign.pk}/send_again/"),
    ]

    assert [answer.status_code for answer in answers] == [302, 404]
    assert len(offers(other_shop)) == 1


@pytest.mark.django_db(transaction=True)
def test_link_opened_by_four_people_at_once_lets_one_join(shop):
    invitation = invite(shop)
    browsers = [open_link(invitation, StaffClient(make_user()).browser) for _ in range(4)]

    answers = run_threads(4, lambda i: browsers[i].post(ANSWER, {"accept": ""}))

    assert sorted(answer.status_code for answer in answers) == [302, 404, 404, 404]
    assert len(members(shop)) == 1
