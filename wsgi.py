"""What the web server and the `flask` command load."""

import gc

from app import create_app
from app.config import from_environment
from app.private_files import say_private

# What is loaded here stays for good. Left to the collector it would be looked through again and again: while loading,
# and later for 100 ms each time, which fall on the requests that make many objects.
gc.disable()
config = from_environment()
say_private(config)
app = create_app(config)
gc.collect()
gc.freeze()
gc.enable()
