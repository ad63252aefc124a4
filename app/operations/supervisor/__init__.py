"""`python -m app.operations.supervisor`: the whole shop under one process, which `make run` starts."""
