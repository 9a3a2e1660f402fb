"""The Python client: calls over one connection that heals itself, and a worker. It must not know the server's rooms."""
