"""What errors of the database mean: lost races, time-outs and lost connections."""

from functools import cache

import psycopg
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError

from commerce.errors import Busy, DatabaseUnreachable, Refusal, all_refusals, constraint_of

# PostgreSQL's codes for transient errors: serialization failures, deadlocks, and time-outs of locks, statements and
# transactions.
_TRANSIENT_SQLSTATES = {"40001", "40P01", "55P03", "57014", "25P03", "25P04"}


def refusal_from_database(exc: DatabaseError | InterfaceError) -> Refusal | None:
    """The refusal that an error of the database stands for; None if it is a bug."""
    cause = exc.__cause__
    sqlstate = getattr(cause, "sqlstate", None)
    if isinstance(exc, IntegrityError):
        refusal_class = _map_constraints().get(constraint_of(exc))
        return refusal_class() if refusal_class else None
    # Before the next check, as a cancelled statement (57014) is of class 57 too.
    if sqlstate in _TRANSIENT_SQLSTATES or _is_stale(cause):
        return Busy()
    # Lost and failed connections have no SQLSTATE, or one of class 08 (connections), 57 (a server that shuts down) or
    # 53 (no connections left).
    if isinstance(exc, OperationalError | InterfaceError) and (
        sqlstate is None or sqlstate[:2] in {"08", "57", "53"}
    ):
        return DatabaseUnreachable()
    return None


def _is_stale(cause: BaseException | None) -> bool:
    """Whether a prepared statement failed because a migration has changed what it returns. It is prepared again next time.

    PostgreSQL has no code of its own for that, and translates the message. The C function that reports it is always named.
    """
    return (
        isinstance(cause, psycopg.errors.FeatureNotSupported)
        and cause.diag.source_function == "RevalidateCachedQuery"
    )


# On the first use: every app's errors have been loaded by then (RestConfig.ready).
@cache
def _map_constraints() -> dict[str, type[Refusal]]:
    return {name: refusal for refusal in all_refusals() for name in refusal.constraints}
