"""Sends events to merchants' servers, signed by Standard Webhooks.

A trigger on `events` (in the first migration) adds a dispatch for each endpoint that subscribes to the type, within the
publisher's INSERT. So events that are rolled back are never sent, and `commerce.events` doesn't depend on webhooks. A
separate statement would cost every checkout a round trip, even in accounts without an endpoint. A worker that fans out
would need a dispatch for each event of every account. The outbox does the rest: `handlers` sends, `recording` keeps the
log and the health of each endpoint.
"""
