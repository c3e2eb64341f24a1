"""Events sent to merchants' own servers, signed by the rules of Standard Webhooks.

How an event gets there: a trigger on `events` (the first migration) adds a dispatch for each endpoint that asks for
its type, within the publisher's own INSERT. So a publisher sends no statement more than without webhooks, what is
rolled back is sent to nobody, and the events know nothing of webhooks. A statement of the publisher's would cost
every checkout a round trip, also of accounts without an endpoint; a worker that fans events out would need a dispatch
for each event of everybody. The outbox does the rest: `handlers` sends, `recording` keeps the log and what it makes of
an endpoint's health.
"""
