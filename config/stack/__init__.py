"""Runs the whole project on one machine: embedded PostgreSQL and Redis from wheels, and the project's processes.

Nothing here imports Django (except `bench.statements`); the project's code runs in the processes started from here.
"""
