"""`python -m app.web.server`: one process that answers requests. Several may listen on the same port."""
