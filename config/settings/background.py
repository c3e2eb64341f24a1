"""Work outside of requests: Celery, the outbox, webhooks, and the periodic tasks."""

from .databases import REDIS_URL
from .environment import env

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT = "config.broker:Transport"
CELERY_TASK_IGNORE_RESULT = True
# Messages only wake workers, which claim the work in the database. A lost message costs a poll interval, whereas late
# acknowledgement would end the worker when Redis is down.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Celery would replace the handlers of LOGGING with its own, and the lines would no longer be JSON.
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Workers and the scheduler outlive Redis: they try for ever. By default Celery gives up after 100 attempts.
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None

# The outbox is drained at once when it announces work; the poll covers announcements that were missed.
OUTBOX_POLL_INTERVAL_S = env.float("DEFAULT_POLL_INTERVAL_S", default=5)
OUTBOX_THREADS = env.int("OUTBOX_THREADS", default=12)
OUTBOX_KEEP_DAYS = env.int("OUTBOX_KEEP_DAYS", default=30)

WEBHOOKS_DISABLE_AFTER_HOURS = env.int("WEBHOOKS_DISABLE_AFTER_HOURS", default=72)
WEBHOOKS_KEEP_DAYS = env.int("WEBHOOKS_KEEP_DAYS", default=30)

# Each message expires when the next one is due. While no worker runs they pile up, and one of each is enough later.
CELERY_BEAT_SCHEDULE = {
    "drain-outbox": {
        "task": "commerce.outbox.tasks.drain",
        "schedule": OUTBOX_POLL_INTERVAL_S,
        "options": {"expires": OUTBOX_POLL_INTERVAL_S},
    },
    "sweep-checkouts": {"task": "checkouts.tasks.sweep", "schedule": 15, "options": {"expires": 15}},
    "sweep-vouchers": {"task": "discounts.tasks.sweep_vouchers", "schedule": 60, "options": {"expires": 60}},
    "prune-idempotency-records": {
        "task": "commerce.rest.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
    "clear-sessions": {
        "task": "accounts.tasks.clear_sessions",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
    "prune-postponed-rows": {
        "task": "commerce.loops.tasks.prune",
        "schedule": 3600,
        "options": {"expires": 3600},
    },
    "prune-outbox": {
        "task": "commerce.outbox.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
    "prune-webhook-deliveries": {
        "task": "commerce.webhooks.tasks.prune",
        "schedule": 600,
        "options": {"expires": 600},
    },
}
