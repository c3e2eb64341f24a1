"""One machine, nothing installed: PostgreSQL and Redis from wheels, and the processes on top of them.

Nothing here imports Django; the project's own code runs in the processes that this package starts.
"""
