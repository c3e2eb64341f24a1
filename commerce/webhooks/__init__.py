"""Sends events to merchants' servers, signed by Standard Webhooks.

A trigger on `events` (in the first migration) adds a dispatch for each endpoint that subscribes to
the type, within the publisher's INSERT. So publishing needs no further statement, events that are
rolled back are never sent, and events don't depend on webhooks. A separate statement would cost
every checkout a round trip, even in accounts without an endpoint; a worker that fans out would need a dispatch
for each event of every account. The outbox does the rest: `handlers` sends, `recording` keeps the log and
the health of each endpoint.
"""
