"""System checks: the serving role can't bypass row-level security, and every account-owned model is isolated."""

from collections.abc import Sequence

from django.apps import apps
from django.core import checks
from django.db import connections, models

from .fields import AccountForeignKey
from .models import AccountManager, AccountOwned, AccountOwnedPart
from .roles import bypass_reasons


@checks.register(checks.Tags.database)
def check_serving_role(databases: Sequence[str] | None = None, **kwargs: object) -> list[checks.CheckMessage]:
    # Django names databases only for `migrate` and `check --database`. Otherwise the server needn't be running.
    if "default" not in (databases or ()):
        return []
    return [
        checks.Error(
            f"The serving database role could bypass row-level security: {reason}.", id="tenancy.E001"
        )
        for reason in bypass_reasons(connections["default"])
    ]


@checks.register(checks.Tags.models)
def check_account_owned_models(app_configs: object = None, **kwargs: object) -> list[checks.CheckMessage]:
    owned = [model for model in apps.get_models() if issubclass(model, AccountOwned)]
    return [message for model in owned for message in _check_model(model)]


def _check_model(model: type[AccountOwned]) -> list[checks.CheckMessage]:
    messages: list[checks.CheckMessage] = []
    if not isinstance(model._base_manager, AccountManager) or not isinstance(
        model._default_manager, AccountManager
    ):
        messages.append(
            checks.Error(
                "Its Meta must derive from AccountOwned.Meta, its manager from AccountManager.",
                obj=model,
                id="tenancy.E002",
            )
        )
    messages += [
        checks.Error(f"{field.name} must be an AccountForeignKey.", obj=model, id="tenancy.E003")
        for field in model._meta.local_fields
        if isinstance(field, models.ForeignKey)
        and not isinstance(field, AccountForeignKey)
        # A name instead of a type if the model is missing, which another check reports.
        and isinstance(field.related_model, type)
        and issubclass(field.related_model, AccountOwned)
    ]
    if issubclass(model, AccountOwnedPart) and not any(
        isinstance(field, AccountForeignKey) and not field.null for field in model._meta.local_fields
    ):
        messages.append(
            checks.Error(
                "Without an AccountForeignKey that is never null, it must derive from AccountOwned.",
                obj=model,
                id="tenancy.E004",
            )
        )
    return messages
