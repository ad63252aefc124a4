"""Crawlers: the family of bots that a user agent names, and a visit to a page that is not indexable as it is recorded,
with neither the page's address nor the client's. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.domain.search_statistics.counting.spool import EventFormat
from app.domain.seo.indexing_decision import PARAMETER_REASONS

OTHER = "Other bots"
LONGEST_AGENT = 512
BROWSER = "Mozilla/"
# By markers in lower case, in the order in which they are looked for.
MARKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Googlebot", ("googlebot", "google-inspectiontool", "storebot-google", "googleother", "google-extended")),
    ("Bingbot", ("bingbot", "bingpreview", "adidxbot")),
    ("DuckDuckBot", ("duckduckbot", "duckassistbot", "duckduckgo-favicons")),
    ("Applebot", ("applebot",)),
    ("YandexBot", ("yandex",)),
    ("Baiduspider", ("baiduspider",)),
    ("GPTBot", ("gptbot", "oai-searchbot", "chatgpt-user")),
    ("ClaudeBot", ("claudebot", "claude-user", "claude-searchbot", "anthropic-ai")),
    ("PerplexityBot", ("perplexitybot", "perplexity-user")),
    ("Bytespider", ("bytespider",)),
    ("AhrefsBot", ("ahrefsbot", "ahrefssiteaudit")),
    ("SemrushBot", ("semrushbot", "siteauditbot")),
)
BOT = re.compile(
    r"(?<!cu)bot\b|bot[/;_-]|crawl|spider|slurp|archiver|scrap|preview|facebookexternalhit|mediapartners|feedfetcher|"
    r"lighthouse|pingdom|uptime|monitor|validator|google-|yandex|baidu|duckduckgo|bingbot|semrush|ahrefs",
    re.IGNORECASE,
)
LONGEST_PARAMETER = 64
LARGEST_SPOOL = 16 * 1024**2  # Bytes, some 200,000 visits.
OTHERS = "(others)"  # Stands for parameters whose names are too long, or came when a day had too many.
PARAMETER_OF_REASON = {reason: name for name, reason in PARAMETER_REASONS.items()}


def is_bot(agent: str) -> bool:
    """Whether a user agent says that it is a program."""
    return BOT.search(agent) is not None


def is_browser(agent: str) -> bool:
    """Whether a user agent is that of a person's browser. Every browser's begins with "Mozilla/"; programs and
    libraries begin with their own names, and bots that begin like a browser name themselves further on."""
    return agent.startswith(BROWSER) and not is_bot(agent)


def family_of(agent: str) -> str | None:
    """Return the family of a bot's user agent, None for people's browsers."""
    agent = agent[:LONGEST_AGENT].lower()
    for family, markers in MARKERS:
        if any(marker in agent for marker in markers):
            return family
    return OTHER if is_bot(agent) else None


@dataclass(frozen=True, slots=True)
class CrawlerVisit:
    """A visit of a crawler. `day` is in the site's time zone; `parameter` is the one that made the page not indexable,
    empty where something else did."""

    site_id: int
    day: date
    family: str
    parameter: str


def parameter_of(reason: str) -> str:
    """Return the parameter that a decision's reason names, empty for none."""
    code, _, parameter = reason.partition(":")
    if code != "facet_parameter":
        return PARAMETER_OF_REASON.get(code, "")
    is_valid = 0 < len(parameter) <= LONGEST_PARAMETER and parameter.isprintable()
    return parameter if is_valid else OTHERS


def visit_to_json(visit: CrawlerVisit) -> list[Any]:
    """Return a visit in the form that `visit_from_json` reads."""
    return [visit.site_id, visit.day.isoformat(), visit.family, visit.parameter]


def visit_from_json(value: Any) -> CrawlerVisit | None:
    """Read a visit from JSON; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        site_id, day, family, parameter, *_later = value
        return CrawlerVisit(int(site_id), date.fromisoformat(day), str(family), str(parameter))
    except (TypeError, ValueError, OverflowError):
        return None


CRAWLER_VISITS = EventFormat("crawlers", visit_to_json, visit_from_json, LARGEST_SPOOL)
