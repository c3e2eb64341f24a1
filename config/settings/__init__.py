"""The settings, by subject. Everything that differs between installations is read from the environment, typed."""

from .background import *
from .databases import *
from .environment import *
from .installation import *
from .limits import *
from .product import *
from .telemetry import *
