"""Endpoints that need somebody, on the overview and in the navigation."""

from django.db.models import Q
from django.utils.translation import gettext_lazy

from commerce.backoffice.figures import Task, register_task

from .models import WebhookEndpoint

register_task(
    Task(
        title=gettext_lazy("Disabled webhooks"),
        icon="link_off",
        page="webhooks.webhookendpoint",
        query={"status__exact": WebhookEndpoint.Status.DISABLED.value},
        condition=Q(status=WebhookEndpoint.Status.DISABLED),
        position=70,
        is_alarming=True,
    )
)
