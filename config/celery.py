import os

from celery import Celery
from celery.signals import task_success

from config.periodic import note_success

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("commerce")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Drains the outbox as soon as it announces work, rather than at the next poll.
app.steps["worker"].add("commerce.outbox.listener:ListenerStep")
task_success.connect(note_success)
