"""The demo shops are made once, for what the installation offers, also after an interruption."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Account
from commerce.catalog.models import Variant
from commerce.tenancy.scope import account_scope, workspace_scope
from config.demo import seeding
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fills", [0, 1, 2])
def test_interrupted_seeding_is_finished_by_the_next(monkeypatch, tmp_path: Path, fills):
    output = tmp_path / "seed.json"
    output.write_text("of another installation")
    interrupt_after(fills, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        call_command("seed_demo", output=output)
    assert not output.exists()
    monkeypatch.undo()

    call_command("seed_demo", output=output)

    written = output.read_text()
    described = json.loads(written)["workspaces"]
    assert [
        [(shop["handle"], len(shop["markets"]), len(shop["variants"])) for shop in workspace["accounts"]]
        for workspace in described
    ] == [
        [(shop.handle, len(shop.markets), len(shop.products)) for shop in workspace.accounts]
        for workspace in WORKSPACES
    ]
    call_command("seed_demo", output=output)
    assert output.read_text() == written


def interrupt_after(fills: int, monkeypatch) -> None:
    """Interrupt seeding in the middle of filling the next shop."""
    filled = []
    make_customers = seeding._make_customers

    def interrupt(**options):
        assert Variant.objects.exists()
        if len(filled) == fills:
            raise KeyboardInterrupt
        filled.append(None)
        make_customers(**options)

    monkeypatch.setattr(seeding, "_make_customers", interrupt)
