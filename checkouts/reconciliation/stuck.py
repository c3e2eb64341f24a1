"""Find stuck rows: something should have processed them long ago.

An hour is more than any sweep, poll or lease takes, even after a restart.
"""

from typing import cast

from commerce.configuration.registry import Integer, known_settings

from .checks import Check

_LATE = "now() - interval '1 hour'"

_CHECKOUTS = f"""
    SELECT k.id, k.phase, k.expires_at
      FROM checkouts k
     WHERE k.account_id = %(account)s AND k.phase = ANY(%(open_phases)s::text[])
       AND k.expires_at < {_LATE} AND COALESCE(k.sweep_after, k.expires_at) < {_LATE}
     ORDER BY k.id
"""  # noqa: S608  the interval is constant
_DISPATCHES = f"""
    SELECT d.id, d.target->>'task_name', d.status, COALESCE(d.locked_until, d.due_at)
      FROM outbox_dispatches d
     WHERE d.account_id = %(account)s
       AND (d.status = 'pending' AND d.due_at < {_LATE}
            OR d.status = 'processing' AND COALESCE(d.locked_until, d.due_at) < {_LATE})
     ORDER BY d.id
"""  # noqa: S608  the interval is constant
_FINISHED = """
    SELECT d.id, d.target->>'task_name', d.status
      FROM outbox_dispatches d
     WHERE d.account_id = %(account)s
       AND (d.finished_at IS NULL) <> (d.status IN ('pending', 'processing'))
     ORDER BY d.id
"""
_VOUCHERS = f"""
    SELECT v.id, v.expires_at
      FROM vouchers v
     WHERE v.account_id = %(account)s AND v.status = 'active' AND v.expires_at < {_LATE}
     ORDER BY v.id
"""  # noqa: S608  the interval is constant
# A claim blocks its key for two minutes and is pruned after a day.
_CLAIMS = f"""
    SELECT r.id, r.created_at
      FROM idempotency_records r
     WHERE r.account_id = %(account)s AND r.status = 0 AND r.created_at < {_LATE} - interval '1 day'
     ORDER BY r.id
"""  # noqa: S608  the interval is constant
# An endpoint rests for minutes only.
_ENDPOINTS = """
    SELECT w.id, w.rests_until
      FROM webhook_endpoints w
     WHERE w.account_id = %(account)s AND w.status = 'active' AND w.rests_until > now() + interval '1 hour'
     ORDER BY w.id
"""

# The longest waits: two hours until a dispatch is retried or a resting server is used again, a day for a gateway's
# answer, six hours for a row that failed in a loop. Another day is added for the time from which they are counted.
_FAR = "now() + interval '2 days'"
_TTL_MINUTES = cast("Integer", known_settings()["commerce.checkout.session_ttl_minutes"]).max_value
_TOO_FAR = f"""
    SELECT found.kind, found.id, found.column_name, found.at
      FROM (SELECT 'dispatch' AS kind, d.id, 'due_at' AS column_name, d.due_at AS at
              FROM outbox_dispatches d
             WHERE d.account_id = %(account)s AND d.status = 'pending' AND d.due_at > {_FAR}
             UNION ALL
            SELECT 'dispatch', d.id, 'locked_until', d.locked_until
              FROM outbox_dispatches d
             WHERE d.account_id = %(account)s AND d.status = 'processing' AND d.locked_until > {_FAR}
             UNION ALL
            SELECT 'checkout', k.id, 'sweep_after', k.sweep_after
              FROM checkouts k
             WHERE k.account_id = %(account)s AND k.phase = ANY(%(open_phases)s::text[]) AND k.sweep_after > {_FAR}
             UNION ALL
            SELECT 'checkout', k.id, 'expires_at', k.expires_at
              FROM checkouts k
             WHERE k.account_id = %(account)s AND k.phase = ANY(%(open_phases)s::text[])
               AND k.expires_at > k.created_at + interval '{_TTL_MINUTES} minutes' + interval '1 hour'
             UNION ALL
            SELECT 'postponed row', p.id, 'retry_at', p.retry_at
              FROM postponed_rows p
             WHERE p.account_id = %(account)s AND p.retry_at > {_FAR}
             UNION ALL
            SELECT 'idempotency record', r.id, 'created_at', r.created_at
              FROM idempotency_records r
             WHERE r.account_id = %(account)s AND r.created_at > {_FAR}) found
     ORDER BY found.kind, found.id, found.column_name
"""  # noqa: S608  the intervals are constant
# A worker returns an unknown dispatch to the queue for newer workers. No deployment lasts an hour.
_UNKNOWN_TASKS = f"""
    SELECT d.id, d.status, COALESCE(d.target->>'task_name', 'none')
      FROM outbox_dispatches d
     WHERE d.account_id = %(account)s AND d.status IN ('pending', 'processing') AND d.created_at < {_LATE}
       AND COALESCE(d.target->>'task_name', '') <> ALL(%(tasks)s::text[])
     ORDER BY d.id
"""  # noqa: S608  the interval is constant

CHECKS = (
    Check("checkout {} is still {}, though its time was over at {}", _CHECKOUTS),
    Check("dispatch {} of {} is still {}, though it was due at {}", _DISPATCHES),
    Check("dispatch {} of {} is {}, which contradicts its finished_at", _FINISHED),
    Check("voucher {} is still active, though it expired at {}", _VOUCHERS),
    Check("idempotency record {} was claimed at {} and never answered", _CLAIMS),
    Check("{} {} has {} {}, which is too far in the future", _TOO_FAR),
    Check("dispatch {} is {}, but nothing runs its task {}", _UNKNOWN_TASKS),
    Check("webhook endpoint {} rests until {}, which is longer than any rest lasts", _ENDPOINTS),
)
