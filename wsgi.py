"""What the web server and the `flask` command load."""

from app import create_app
from app.config import from_environment
from app.operations.instance import say_private
from app.operations.loading import loading_for_good

with loading_for_good():
    config = from_environment()
    say_private(config)
    app = create_app(config)
