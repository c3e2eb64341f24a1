"""Filters of the list of checkouts."""

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.filters import ChoiceFilter

from .phases import OPEN_PHASES, Phase

OPEN = Q(phase__in=OPEN_PHASES)
ABANDONED = Q(phase=Phase.ABANDONED)


class ProgressFilter(ChoiceFilter):
    """Whether a checkout is open, became an order, or was abandoned."""

    title = gettext_lazy("progress")
    parameter_name = "progress"

    def list_conditions(self) -> dict[str, tuple[str, Q]]:
        return {
            "open": (_("Open"), OPEN),
            "completed": (_("Completed"), Q(phase=Phase.COMPLETED)),
            "abandoned": (_("Abandoned"), ABANDONED),
        }
