"""The demo shops are made for what the installation offers."""

import pytest
from django.utils import timezone

from accounts.models import Account
from commerce.tenancy.scope import account_scope, workspace_scope
from config.demo.seeding import seed
from config.demo.shops import WORKSPACES
from shipping.models import ShippingMethod


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_available", [True, False])
def test_methods_take_cash_if_the_installation_does(settings, is_available):
    if not is_available:
        settings.PAYMENT_METHODS = [name for name in settings.PAYMENT_METHODS if "CASH" not in name]

    seed(now=timezone.now())

    with workspace_scope(WORKSPACES[0].id):
        account_id = Account.objects.get(handle="coffee-harbour").pk
    with account_scope(account_id):
        methods = ShippingMethod.objects.order_by("pk").values_list("is_cod_compatible", "cod_fee_cents")
        assert list(methods) == ([(True, 200), (True, 100)] if is_available else [(False, 0)] * 2)
