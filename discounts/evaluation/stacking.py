"""Decides which rules are combined, and in which order they apply."""

from collections.abc import Sequence
from functools import reduce

from .mechanic import Stage
from .rules import Rule


def combine(entered: Sequence[Rule], new: Rule) -> list[Rule]:
    """Return the codes that remain when another one is entered.

    A code that doesn't stack replaces all others, and is replaced by the next one. Entering a code again changes
    nothing.
    """
    if any(rule.id == new.id for rule in entered):
        return list(entered)
    if not new.stackable:
        return [new]
    return [*(rule for rule in entered if rule.stackable), new]


def find_excluded(rules: Sequence[Rule], entered: Sequence[Rule]) -> dict[int, Rule]:
    """Return the rules that can't be combined with the entered codes: by id, with a code that excludes the rule.

    All of these rules may apply otherwise. The codes are combined again, because one that stacked when it was entered
    may not stack any more.
    """
    # As if the codes were entered now, one after another: their discounts may have been changed.
    kept = reduce(combine, entered, list[Rule]())
    entered_ids, kept_ids = {rule.id for rule in entered}, {rule.id for rule in kept}
    stands_alone = any(not rule.stackable for rule in kept)
    return {
        rule.id: kept[0]
        for rule in rules
        if rule.id not in kept_ids and (rule.id in entered_ids or (stands_alone and not rule.stackable))
    }


def sort_rules(automatic: Sequence[Rule], entered: Sequence[Rule]) -> list[Rule]:
    """Return each rule once, in the order of application: by stage, then automatic ones by id, then codes as entered."""
    rules = [*sorted(automatic, key=lambda rule: rule.id), *entered]
    # `sorted` is stable: within a stage, the order stays as above.
    return sorted({rule.id: rule for rule in rules}.values(), key=_find_stage)


def _find_stage(rule: Rule) -> Stage:
    return Stage.SHIPPING if rule.is_on_shipping else rule.mechanic.stage
