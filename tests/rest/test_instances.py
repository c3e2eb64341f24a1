"""Instances made from a statement's rows are what Django makes of them."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import BinaryField, Value
from django.db.models.signals import post_init, pre_init
from django.utils import timezone
from django.utils.translation import gettext_lazy

from checkouts.models import Checkout
from checkouts.phases import Phase
from commerce.tenancy.instances import Columns, Encoder, post_columns
from commerce.tenancy.models import AccountOwned
from commerce.tenancy.statements import Prepared, send

MODELS = [model for model in apps.get_models() if issubclass(model, AccountOwned)]


def values_of(instance):
    return {name: value for name, value in vars(instance).items() if name != "_state"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_instances_of_every_model_are_djangos(world, model):
    columns = Columns(model, "t", {"answer": "40 + 2"})
    select = Prepared(
        f"SELECT {columns.sql} FROM {model._meta.db_table} t WHERE account_id = %s ORDER BY id", reads=True
    )

    with world.shop.scope():
        expected = list(model.objects.annotate(answer=Value(42)).order_by("pk"))
        (found,) = send(select.call([world.shop.id]))
        made = columns.read(found.rows)

    # Whoever listens to these would not be told.
    assert not pre_init.has_listeners(model)
    assert not post_init.has_listeners(model)
    assert made == expected
    assert [values_of(one) for one in made] == [values_of(one) for one in expected]
    assert {(one._state.db, one._state.adding) for one in made} <= {("default", False)}


# JSON has no bytes.
MODELS_WITHOUT_BYTES = [
    model
    for model in MODELS
    if not any(isinstance(field, BinaryField) for field in model._meta.concrete_fields)
]


@pytest.mark.parametrize("model", MODELS_WITHOUT_BYTES, ids=lambda model: model._meta.label)
def test_values_of_every_model_arrive_as_they_are_stored(world, model):
    # Without those that are set to now.
    set_to_now = {"auto_now", "auto_now_add"}
    fields = [
        field
        for field in model._meta.concrete_fields
        if not any(vars(field).get(name) for name in set_to_now)
    ]
    names = ", ".join(field.column for field in fields)
    table = model._meta.db_table

    with world.shop.scope(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} FROM {table} ORDER BY id")
        stored = cursor.fetchall()
        encoded = Encoder(fields).encode(model.objects.order_by("pk"))
        cursor.execute(
            f"SELECT {names} FROM json_populate_recordset(NULL::{table}, %s::json) ORDER BY id", [encoded]
        )
        assert cursor.fetchall() == stored


def test_lazy_texts_and_choices_are_written_as_texts_and_other_objects_are_refused(world):
    encoder = Encoder([Checkout._meta.get_field("email"), Checkout._meta.get_field("phase")])

    with world.shop.scope():
        encoded = encoder.encode([Checkout(email=gettext_lazy("Orders"), phase=Phase.PAYMENT)])
        with pytest.raises(TypeError):
            encoder.encode([Checkout(email=object())])

    assert encoded == '[{"email":"Orders","phase":"payment"}]'


def test_every_model_has_rows(world):
    with world.shop.scope():
        assert [model for model in MODELS if not model.objects.exists()] == []


def test_columns_of_one_row_are_written(world):
    now = timezone.now()
    with world.shop.scope():
        checkout = Checkout.objects.latest("pk")
        checkout.email, checkout.vat, checkout.updated_at = "new@example.com", None, now
        before = {**values_of(Checkout.objects.get(pk=checkout.pk)), "email": "new@example.com", "vat": None}
        checkout.locale = "xx-XX"  # not among the columns

        post_columns(checkout, ["email", "vat", "updated_at"])

        after = values_of(Checkout.objects.get(pk=checkout.pk))
    assert after.pop("updated_at") >= now > before.pop("updated_at")
    assert after == before


def test_instances_can_be_saved(world):
    columns = Columns(world.shop.market.__class__, "m")
    select = Prepared(f"SELECT {columns.sql} FROM markets m WHERE account_id = %s")

    with world.shop.scope():
        (market,) = columns.read(send(select.call([world.shop.id]))[0].rows)
        market.name = "Renamed"
        market.save(update_fields=["name"])
        market.refresh_from_db()

    assert market.name == "Renamed"
