"""The payment simulator: a processor with a card reader that needs no other company, on tables of its own."""

from app.adapters.simulator.simulator import Simulator

__all__ = ["Simulator"]
