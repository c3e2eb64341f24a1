"""The Redis transport of Celery, changed so that a worker survives the loss of its broker."""

from kombu.transport import redis


class Channel(redis.Channel):
    # Kombu 5.7 would restore unacknowledged messages over the connection that was just lost, which ends the
    # worker. Messages only wake workers up, and the next poll makes up for a lost one.
    do_restore = False


class Transport(redis.Transport):
    Channel = Channel
