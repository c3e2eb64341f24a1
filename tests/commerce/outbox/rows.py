"""Read and change dispatches in the middle of a test."""

from django.utils import timezone

from commerce.outbox.models import OutboxDispatch


def reread(shop, dispatch):
    with shop.scope():
        return OutboxDispatch.objects.get(pk=dispatch.pk)


def make_due(shop, dispatch):
    with shop.scope():
        OutboxDispatch.objects.filter(pk=dispatch.pk).update(due_at=timezone.now())
