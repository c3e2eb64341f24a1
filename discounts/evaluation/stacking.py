"""Which rules stand beside one another, and in which order they apply."""

from collections.abc import Sequence
from functools import reduce

from .mechanic import Stage
from .rules import Rule


def combine(entered: Sequence[Rule], new: Rule) -> list[Rule]:
    """The codes that are left when another one is entered.

    One that doesn't stack replaces all others, and is itself replaced by the next. The same again changes nothing.
    """
    if any(rule.id == new.id for rule in entered):
        return list(entered)
    if not new.stackable:
        return [new]
    return [*(rule for rule in entered if rule.stackable), new]


def find_excluded(rules: Sequence[Rule], entered: Sequence[Rule]) -> dict[int, Rule]:
    """The code beside which a rule doesn't apply, by the rule's id, among rules that otherwise all may apply.

    The codes are combined anew: one that stacked when it was entered may not do so any more.
    """
    # As if the codes were entered one after the other, with the settings that their discounts have by now.
    kept = reduce(combine, entered, list[Rule]())
    entered_ids, kept_ids = {rule.id for rule in entered}, {rule.id for rule in kept}
    stands_alone = any(not rule.stackable for rule in kept)
    return {
        rule.id: kept[0]
        for rule in rules
        if rule.id not in kept_ids and (rule.id in entered_ids or (stands_alone and not rule.stackable))
    }


def sort_rules(automatic: Sequence[Rule], entered: Sequence[Rule]) -> list[Rule]:
    """Every rule once, as they apply: by stage, then those that apply by themselves, by id, then as entered."""
    rules = [*sorted(automatic, key=lambda rule: rule.id), *entered]
    # `sorted` is stable: within a stage, the order stays as above.
    return sorted({rule.id: rule for rule in rules}.values(), key=_stage)


def _stage(rule: Rule) -> Stage:
    return Stage.SHIPPING if rule.is_on_shipping else rule.mechanic.stage
