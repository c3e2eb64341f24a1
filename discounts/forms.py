from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache, partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.forms import RuledModelForm, read_all_values, read_column, show_refusal
from commerce.backoffice.picks import Choices, PickField, list_ids
from commerce.errors import ValidationFailed

from .amounts import find_currency
from .evaluation import CONFIG_COLUMNS, SHARED_COLUMN
from .field_rules import check_config
from .formfields import ConfigField, make_shared_config_field
from .mechanics.bulk_pricing import BULK_TIERS, BulkPricing
from .mechanics.buy_x_get_y import BOGO, BuyXGetY
from .picks import KINDS
from .registry import get_mechanic, mechanics_with_shared_column
from .rules import require_sound, set_fields


class DiscountForm(RuledModelForm):
    """Ignores inputs that the page hides for the chosen type, as they may have been filled in before it was chosen."""

    bogo_config = ConfigField(
        BOGO, label=gettext_lazy(BuyXGetY.config_label), help_text=gettext_lazy(BuyXGetY.config_help)
    )
    bulk_tiers = ConfigField(
        BULK_TIERS,
        label=gettext_lazy(BulkPricing.config_label),
        help_text=gettext_lazy(BulkPricing.config_help),
    )

    # The kinds of rows that the member may see.
    visible: frozenset[str] = frozenset()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shared = mechanics_with_shared_column()
        if self.instance.pk is not None:
            shared = [each for each in shared if each.type == self.instance.type] or shared
            # A page that can only be viewed has no inputs.
            if "type" in self.fields:
                self.fields["type"].disabled = True
        if SHARED_COLUMN in self.fields:
            self.fields[SHARED_COLUMN] = make_shared_config_field(shared)
        self._set_currencies()
        self._set_choices()

    def _set_choices(self) -> None:
        """Give all pick lists of a kind the same choices, so that they are read once."""
        self.choices = {
            name: Choices(kind, is_visible=name in self.visible, list_ids=partial(self._list_ids, name))
            for name, kind in KINDS.items()
        }
        for name, field in self.fields.items():
            if isinstance(field, PickField):
                field.choose_from(self.choices[name])
            elif isinstance(field, ConfigField):
                field.choose_from(self.choices)

    def _list_ids(self, kind: str) -> Iterator[int]:
        for name, field in self.fields.items():
            if name == kind:
                yield from list_ids(self[name].value())
            elif isinstance(field, ConfigField):
                yield from field.widget.list_ids(kind, self[name].value())

    def format_stored_value(self, name: str) -> str:
        if name not in KINDS:
            return super().format_stored_value(name)
        ids = getattr(self.row, name)
        choices = Choices(KINDS[name], is_visible=name in self.visible, list_ids=lambda: ids)
        return ", ".join(map(choices.title, ids))

    def _set_currencies(self) -> None:
        """Let the configs find the currency that their amounts were shown in, and the one that was sent with them."""
        shown, sent = (
            cache(partial(find_currency, self._read_shown)),
            cache(partial(find_currency, self._read_sent)),
        )
        configs = {name: field for name, field in self.fields.items() if isinstance(field, ConfigField)}
        for field in configs.values():
            field.widget.find_currency, field.find_currency = shown, sent if self.is_bound else shown
        # What somebody else has changed is shown again as it is stored, in the stored currency.
        for name in configs.keys() & self.refreshed:
            configs[name].widget.find_currency = partial(find_currency, partial(read_column, self.row))

    def clean(self) -> dict[str, Any]:
        chosen = self.cleaned_data.get("type") or ""
        mechanic = get_mechanic(chosen)
        shared = self.fields.get(SHARED_COLUMN)
        # The field has a section for each type, but the column stores only that of the chosen type.
        if isinstance(shared, ConfigField) and len(shared.sections) > 1:
            self.cleaned_data[SHARED_COLUMN] = (self.cleaned_data.get(SHARED_COLUMN) or {}).get(chosen)
        hidden = {name: None for name in CONFIG_COLUMNS if name in self.fields and mechanic.column != name}
        hidden |= mechanic.form_values
        # Before the rules are checked: an input that staff can't see must not be refused.
        for name, value in hidden.items():
            self.errors.pop(name, None)
            self.cleaned_data[name] = value
        self._refuse_deleted(set(self.changed_data) - self.errors.keys() - hidden.keys())
        cleaned = super().clean()
        if not self.errors:
            self._require_sound()
        return cleaned

    def _refuse_deleted(self, names: Iterable[str]) -> None:
        """Refuse ids of deleted rows in edited lists, as the operation would, but name them."""
        for name in names:
            field, sent = self.fields[name], self[name].data
            for kind, choices in self.choices.items():
                ids: Iterable[int] = ()
                if isinstance(field, PickField) and name == kind:
                    ids = list_ids(sent)
                elif isinstance(field, ConfigField):
                    ids = field.widget.list_ids(kind, sent)
                if deleted := choices.find_deleted(ids):
                    text = _("No longer in this shop: %(ids)s. Untick these first.")
                    self.add_error(name, text % {"ids": ", ".join(map(str, deleted))})

    def _require_sound(self) -> None:
        """Check how the fields fit each other before Django tries the database's constraints, which name no field."""
        # A copy, because Django writes the instance itself after this.
        draft = copy(self.instance)
        values = read_all_values(self)
        draft.type = values.get("type", draft.type)
        try:
            set_fields(draft, check_config(values, draft.mechanic))
            require_sound(draft)
        except ValidationFailed as refusal:
            show_refusal(self, refusal)
