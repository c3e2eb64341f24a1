"""What discounts take off a basket: plain data in and out, no framework. docs/pricing.md says how."""

from .basket import Basket, Line, Shopper
from .checks import Obstacle, Reason, check, find_obstacle
from .engine import Applied, Evaluation, Verdict, evaluate
from .rules import COLUMNS, Bogo, BulkTiers, Rule, Target, Tier, rule_of
from .stacking import combine

__all__ = [
    "COLUMNS",
    "Applied",
    "Basket",
    "Bogo",
    "BulkTiers",
    "Evaluation",
    "Line",
    "Obstacle",
    "Reason",
    "Rule",
    "Shopper",
    "Target",
    "Tier",
    "Verdict",
    "check",
    "combine",
    "evaluate",
    "find_obstacle",
    "rule_of",
]
