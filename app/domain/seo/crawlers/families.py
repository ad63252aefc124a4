"""The family of bots that a user agent names. Pure."""

from __future__ import annotations

import re

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
