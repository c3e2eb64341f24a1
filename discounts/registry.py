"""The types of discounts of this installation: DISCOUNT_MECHANICS names the class of each."""

from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy

from commerce.backoffice.display import StrOrPromise

from .evaluation import CONFIG_COLUMNS, SHARED_COLUMN, Mechanic, Unavailable

# The length of the column.
MAX_TYPE = 32


def mechanics() -> dict[str, Mechanic]:
    """Return the mechanics by type, in the order of the setting."""
    return _load(tuple(settings.DISCOUNT_MECHANICS))


def get_mechanic(discount_type: str) -> Mechanic:
    """Return the mechanic of a type; `Unavailable` if this installation doesn't have it any more."""
    return mechanics().get(discount_type) or Unavailable(discount_type)


def type_choices() -> list[tuple[str, StrOrPromise]]:
    return [(each.type, gettext_lazy(each.label)) for each in mechanics().values()]


def mechanics_with_shared_column() -> list[Mechanic]:
    """Return the mechanics whose config is in the column that they share."""
    return [each for each in mechanics().values() if each.column == SHARED_COLUMN]


# By the names, not once for all, because tests change the setting.
@lru_cache(maxsize=8)
def _load(names: tuple[str, ...]) -> dict[str, Mechanic]:
    loaded: dict[str, Mechanic] = {}
    for name in names:
        mechanic = import_string(name)()
        if mechanic.type in loaded or len(mechanic.type) > MAX_TYPE:
            raise ImproperlyConfigured(f"{name}: the type {mechanic.type} is taken or too long.")
        # Without a column, the config would be lost when the discount is saved.
        if (mechanic.config is None) != (mechanic.column is None) or mechanic.column not in (
            None,
            *CONFIG_COLUMNS,
        ):
            raise ImproperlyConfigured(
                f"{name}: a config needs one of the columns {', '.join(CONFIG_COLUMNS)}."
            )
        loaded[mechanic.type] = mechanic
    return loaded
