"""The sentence model on the System page: whether it is there, and whether a site's search uses it."""

from __future__ import annotations

from app.domain.search.engine import IndexName, SearchEngine
from app.domain.search.index.documents import ranks_by_meaning
from app.domain.search.index.healing import is_hopeless, latest_failure
from app.domain.search.sentence_model import SentenceModel, state_of
from app.domain.system.facts import Health, Line

LABEL = "Sentence model"
SETTINGS = ("admin.search_settings", "Search settings")
MISSING = "`make semantic` installs one on this server (91 MB); then restart the shop."


def sentence_model_line(model: SentenceModel | None, engine: SearchEngine, site_id: int) -> Line:
    """Return the line about the sentence model, which is loaded to see whether it can be used. Raises
    SQLAlchemyError."""
    state = state_of(model)
    if state.fault is not None:
        advice = "Search ranks by words alone. Fix the files, then restart the shop."
        return Line(LABEL, "Unusable", Health.BAD, state.fault, advice=advice, page=SETTINGS)
    if state.label is None:
        return Line(LABEL, "Not installed", Health.PLAIN, "search ranks by words alone", advice=MISSING, page=SETTINGS)
    if not ranks_by_meaning(site_id):
        return Line(LABEL, "Off", Health.PLAIN, f"{state.label}; this shop ranks by words alone", page=SETTINGS)
    status = engine.status(site_id, IndexName.PRODUCTS)
    detail = f"{state.label}; vectors of {status.vectors or 0:,} of {status.documents or 0:,} products of this shop"
    if status.documents is None or status.lacks_vectors:
        return Line(
            LABEL, "Not in use", Health.WARN, detail, advice=_why_not(site_id, status.lacks_vectors), page=SETTINGS
        )
    return Line(LABEL, "In use", Health.GOOD, detail, page=SETTINGS)


def _why_not(site_id: int, model: str | None) -> str:
    if model is None or not is_hopeless(site_id, model):
        requested = "The shop requests a rebuild of the products by itself."
    else:
        requested = "Two rebuilds for it were in vain. Rebuild the products by hand once the cause is gone."
    error = model and latest_failure(site_id, model)
    return f"{requested} The last one failed: {error}" if error else requested
