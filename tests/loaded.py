"""What the process that forks others has loaded: the application, made once."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

from sqlalchemy.orm import configure_mappers

import worker  # noqa: F401
from app.adapters.clock import SystemClock
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue
from app.ports import Ports
from tests.faults import act  # noqa: F401
from tests.ready_app import config_for, durable_application

with tempfile.TemporaryDirectory() as nowhere:
    config = config_for("sqlite://", Path(nowhere))
    durable_application(config, Ports(NullEngine(), SystemClock(), NoQueue()))
configure_mappers()
gc.collect()
gc.freeze()
