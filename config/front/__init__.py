"""The layer between the network and Django.

Granian's RSGI gives each request to an event loop, which reads the body within a time limit and at a minimum rate. Only
then does the request take a thread, and with it a database connection. A few threads run Django, as WSGI, on complete
requests.
"""
