"""The system checks find models that bypass the isolation."""

from django.core.checks import run_checks
from django.db import models
from django.test.utils import isolate_apps

from carts.models import Cart
from commerce.tenancy.checks import _check_model as messages_of
from commerce.tenancy.checks import check_account_owned_models
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned, AccountOwnedPart


def ids(model):
    return [message.id for message in messages_of(model)]


def test_installed_models_pass():
    assert check_account_owned_models() == []
    assert run_checks(tags=["models"]) == []


@isolate_apps("carts")
def test_model_with_a_reference_of_the_account_passes():
    class Note(AccountOwned):
        cart = AccountForeignKey(Cart)

        class Meta(AccountOwned.Meta):
            app_label = "carts"

    assert ids(Note) == []


@isolate_apps("carts")
def test_model_with_a_manager_of_its_own_is_found():
    class Note(AccountOwned):
        objects = models.Manager()

        class Meta(AccountOwned.Meta):
            app_label = "carts"

    assert ids(Note) == ["tenancy.E002"]


@isolate_apps("carts")
def test_model_with_a_plain_reference_is_found():
    class Note(AccountOwned):
        cart = models.ForeignKey(Cart, models.CASCADE)

        class Meta(AccountOwned.Meta):
            app_label = "carts"

    assert ids(Note) == ["tenancy.E003"]


@isolate_apps("carts")
def test_part_that_may_have_no_reference_is_found():
    class Note(AccountOwnedPart):
        cart = AccountForeignKey(Cart, null=True)

        class Meta(AccountOwnedPart.Meta):
            app_label = "carts"

    assert ids(Note) == ["tenancy.E004"]
