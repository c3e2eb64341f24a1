"""Integers reach the database unchanged, whatever type Django sends them as."""

from itertools import product

import pytest
from django.apps import apps
from django.db import DataError, models
from django.db.models import Case, F, Value, When
from django.db.models.functions import Coalesce, Greatest
from psycopg.types.numeric import Int2, Int4, Int8

from commerce.catalog.models import VariantPricing
from commerce.tenancy.models import AccountOwned
from tests import factories

BITS = {Int2: 16, Int4: 32, Int8: 64}
NUMBERS = (2**15, 2**31, 2**40, 2**53 - 1, -(2**31) - 1, 2**63)
MODELS = [model for model in apps.get_models() if issubclass(model, AccountOwned)]


def bound(queryset):
    return [param for param in queryset.query.sql_with_params()[1] if isinstance(param, int)]


@pytest.mark.parametrize("model", MODELS)
def test_number_in_an_expression_on_any_column_is_bound_whole(shop, model):
    fields = [field for field in model._meta.local_concrete_fields if isinstance(field, models.IntegerField)]
    with shop.scope():
        for field, number in product(fields, NUMBERS):
            for param in bound(model.objects.annotate(**computed(field.name, number))):
                bits = BITS.get(type(param), 1000)
                assert -(2 ** (bits - 1)) <= param < 2 ** (bits - 1), (field.name, param)


def computed(name, number):
    return {
        "added": F(name) + number,
        "subtracted": F(name) - Value(number),
        "greatest": Greatest(F(name), number),
        "first": Coalesce(F(name), Value(number)),
        "chosen": Case(When(pk=number, then=Value(number))),
    }


def test_number_that_no_column_takes_is_refused_by_the_database(shop):
    factories.make_variant(shop)
    with pytest.raises(DataError), shop.scope():
        VariantPricing.objects.update(price_cents=2**64 + 5)
