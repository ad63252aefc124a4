"""A search engine of dictionaries and loops over the shop's ranking policy: slow, and plain enough to be read as right.

What it answers is what any engine must answer. It keeps its indexes in memory and knows the live documents alone.
"""

from tests.adapters.reference_engine.engine import ReferenceEngine
from tests.adapters.reference_engine.evaluation import Evaluation

__all__ = ["Evaluation", "ReferenceEngine"]
