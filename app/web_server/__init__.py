"""`python -m app.web_server`: one process that answers requests. Several may listen on the same port."""
