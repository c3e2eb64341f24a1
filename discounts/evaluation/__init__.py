"""Computes what discounts take off a basket: plain data in and out, no framework. docs/pricing.md has the rules."""

from .basket import Basket, Line, Shopper
from .checks import Obstacle, Reason, find_obstacle
from .config import VALUE, Choice, Group, Ids, Number, Part, Rows, list_ids
from .cuts import Cut, compute_cents_off
from .engine import Applied, Evaluation, Verdict, evaluate
from .mechanic import SHARED_COLUMN, ByQuantity, Mechanic, Stage, Terms, Unavailable
from .remaining import Remaining
from .rules import COLUMNS, CONFIG_COLUMNS, Rule, Target, build_rule
from .stacking import combine

__all__ = [
    "COLUMNS",
    "CONFIG_COLUMNS",
    "SHARED_COLUMN",
    "VALUE",
    "Applied",
    "Basket",
    "ByQuantity",
    "Choice",
    "Cut",
    "Evaluation",
    "Group",
    "Ids",
    "Line",
    "Mechanic",
    "Number",
    "Obstacle",
    "Part",
    "Reason",
    "Remaining",
    "Rows",
    "Rule",
    "Shopper",
    "Stage",
    "Target",
    "Terms",
    "Unavailable",
    "Verdict",
    "build_rule",
    "combine",
    "compute_cents_off",
    "evaluate",
    "find_obstacle",
    "list_ids",
]
