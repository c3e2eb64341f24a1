"""The Redis transport of Celery, changed so that a worker survives the loss of its broker."""

from kombu.transport import redis


class Channel(redis.Channel):
    # Kombu 5.7 would put unacknowledged messages back over the very connection that was lost, which ends
    # the worker. The messages are wake-ups and nothing else: the next poll makes up for one that is lost.
    do_restore = False


class Transport(redis.Transport):
    Channel = Channel
