"""Operators who act in a shop: its staff sees that, and not who they are."""

from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import StaffInvitation, StaffMembership, User
from commerce.backoffice.membership import OPERATOR_NAME
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product
from tests import factories
from tests.backoffice.clients import make_staff, make_user


def actions_of(shop):
    with shop.scope():
        return list(StaffAction.objects.order_by("pk").values_list("username", "kind", "subject"))


def test_what_an_operator_does_is_in_the_shops_log(shop, operator, owner):
    product = factories.make_product(shop, title="Mug")
    path = f"catalog/product/{product.pk}/change/"

    operator.fill(path, title="Cup")

    assert actions_of(shop) == [("An operator", "changed", "catalog.product")]
    with shop.scope():
        assert Product.objects.get().title == "Cup"
    history = owner.get(f"catalog/product/{product.pk}/history/").content.decode()
    log = owner.get("backoffice/staffaction/").content.decode()
    assert "An operator" in history
    assert "An operator" in log
    assert operator.user.username not in history + log


def test_operator_who_is_a_member_too_acts_as_operator(shop, owner):
    User.objects.filter(pk=owner.user.pk).update(is_superuser=True)
    product = factories.make_product(shop, title="Mug")

    owner.fill(f"catalog/product/{product.pk}/change/", title="Cup")

    assert actions_of(shop)[0][0] == "An operator"


def test_invitation_by_an_operator_names_none(shop, operator):
    operator.fill("accounts/staffinvitation/add/", email="bea@example.com", role="owner")

    with shop.scope():
        assert StaffInvitation.objects.get().invited_by == "An operator"


def test_operator_is_told_and_members_are_not(shop, operator, owner):
    text = f"You act in {shop.handle.title()} as an operator. Its staff sees what you change."

    for path in ("", "catalog/product/", "orders/order/"):
        assert text in operator.get(path).content.decode()
        assert "as an operator" not in owner.get(path).content.decode()


def test_reset_of_the_second_step_is_in_the_log_of_each_shop(shop, other_shop, make_shop):
    third = make_shop()
    member = make_staff(shop, other_shop)
    TOTPDevice.objects.create(user=member.user, name="Phone", confirmed=True)
    User.objects.filter(pk=member.user.pk).update(has_second_step=True)
    out = StringIO()

    for _ in range(2):
        call_command("staff", "reset-second-step", member.user.username, stdout=out)

    assert out.getvalue().splitlines() == [
        f"{member.user.username}: reset",
        f"{member.user.username}: unchanged",
    ]
    assert not TOTPDevice.objects.exists()
    entry = ("An operator", "changed", "accounts.staffmembership")
    assert [actions_of(one) for one in (shop, other_shop, third)] == [[entry], [entry], []]


@pytest.mark.django_db
def test_devices_of_others_stay():
    ann, bea = make_user(), make_user()
    for user in (ann, bea):
        TOTPDevice.objects.create(user=user, name="Phone", confirmed=True)
        User.objects.filter(pk=user.pk).update(has_second_step=True)

    call_command("staff", "reset-second-step", ann.username, stdout=StringIO())

    assert [device.user for device in TOTPDevice.objects.all()] == [bea]
    assert StaffMembership.objects.count() == 0


def test_nobody_can_choose_the_name_that_stands_for_operators():
    with pytest.raises(ValidationError):
        User.username_validator(OPERATOR_NAME)
