"""`python -m app.supervisor`: the whole shop under one process, which `make run` starts."""
