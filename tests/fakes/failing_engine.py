"""A search engine with a fault that no rebuild mends."""

from __future__ import annotations

from dataclasses import replace

from app.domain.search.engine import EngineFault, EngineState, EngineStatus, IndexName, SearchEngine


class FailingEngine:
    """The engine, whose status has the fault while there is one. With DISK_FULL it answers all the same."""

    def __init__(self, engine: SearchEngine, fault: EngineFault | None = None) -> None:
        self._engine = engine
        self.fault = fault

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        error = f"The cluster has a fault: {self.fault}."
        if self.fault is None:
            return self._engine.status(site_id, index)
        if self.fault is EngineFault.DISK_FULL:
            return replace(self._engine.status(site_id, index), error=error, fault=self.fault)
        return EngineStatus(EngineState.UNREACHABLE, error, fault=self.fault)
