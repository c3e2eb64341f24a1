"""The renderer's own configuration, for a machine that is as busy as it likes: only limits of processor time are left."""

from emails.renderer import limits
from emails.renderer.gunicorn_conf import *  # noqa: F403

limits.MAX_SECONDS = 120.0
timeout = 150
