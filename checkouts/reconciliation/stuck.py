"""Rows that something should have moved long ago, and that nothing will ever move again.

An hour is more than any sweep, poll or lease takes, also after a restart.
"""

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
# A claim bars its key for two minutes, and is pruned after a day.
_CLAIMS = f"""
    SELECT r.id, r.created_at
      FROM idempotency_records r
     WHERE r.account_id = %(account)s AND r.status = 0 AND r.created_at < {_LATE} - interval '1 day'
     ORDER BY r.id
"""  # noqa: S608  the interval is constant
# An endpoint rests for minutes at a time.
_ENDPOINTS = """
    SELECT w.id, w.rests_until
      FROM webhook_endpoints w
     WHERE w.account_id = %(account)s AND w.status = 'active' AND w.rests_until > now() + interval '1 hour'
     ORDER BY w.id
"""

CHECKS = (
    Check("checkout {} is still {}, though its time was over at {}", _CHECKOUTS),
    Check("dispatch {} of {} is still {}, though it was due at {}", _DISPATCHES),
    Check("dispatch {} of {} is {}, which its time of finishing contradicts", _FINISHED),
    Check("voucher {} is still active, though it expired at {}", _VOUCHERS),
    Check("idempotency record {} was claimed at {} and never answered", _CLAIMS),
    Check("webhook endpoint {} rests until {}, which is longer than any rest lasts", _ENDPOINTS),
)
