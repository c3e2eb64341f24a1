"""The renderer's configuration without limits of elapsed time, which a busy machine would exceed. Those of processor time stay."""

from emails.renderer import limits
from emails.renderer.gunicorn_conf import *  # noqa: F403

limits.MAX_SECONDS = 120.0
timeout = 150
