"""What the web server and the `flask` command load."""

import gc

from app import create_app

app = create_app()

# What is loaded by now stays for good. Left to the collector it would be looked through again and again, which takes
# 100 ms each time and falls on the requests that make many objects.
gc.collect()
gc.freeze()
