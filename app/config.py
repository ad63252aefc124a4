"""Every setting of the process, read once from the environment, with its default and meaning."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

INSTANCE = Path("instance")
REDIS_ADDRESS_FILE = "redis.url"


class ConfigurationError(Exception):
    """The environment does not allow a start; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Config:
    """Meaning and default of each environment variable; README lists them for operators."""

    environment: str = "development"
    secret_key: str = ""
    database_url: str = ""
    redis_url: str | None = None
    index_dir: Path = INSTANCE / "index"
    media_dir: Path = INSTANCE / "media"
    counting_dir: Path | None = None
    search_engine: str = "whoosh"
    host: str = "127.0.0.1"
    port: int = 8000
    web_workers: int = 2
    log_level: str = "INFO"
    metrics_token: str | None = None
    ai_base_url: str | None = None
    ai_api_key: str = ""
    ai_model: str = ""
    trusted_proxies: int = 0
    password_memory_kib: int = 19_456
    testing: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def production(self) -> bool:
        return self.environment == "production"

    @property
    def counting_folder(self) -> Path:
        """Where searches wait to be counted: beside the index unless another folder is named."""
        return self.counting_dir or self.index_dir.parent / "counting"

    @property
    def queue_prefix(self) -> str:
        """Two shops that share a Redis but not a database do not share a queue."""
        return "shop-" + hashlib.sha256(self.database_url.encode()).hexdigest()[:12]


def from_environment(environ: Mapping[str, str] | None = None) -> Config:
    """Raises ConfigurationError for a value that cannot be used."""
    env = os.environ if environ is None else environ
    instance = INSTANCE.absolute()
    environment = _choice(env, "SHOP_ENV", "development", ("development", "production", "testing"))
    return Config(
        environment=environment,
        testing=environment == "testing",
        secret_key=_secret_key(env, environment, instance),
        database_url=_database_url(env.get("DATABASE_URL") or f"sqlite:///{instance / 'shop.db'}"),
        redis_url=env.get("REDIS_URL") or _embedded_redis(instance),
        index_dir=Path(env.get("INDEX_DIR") or instance / "index"),
        media_dir=Path(env.get("MEDIA_DIR") or instance / "media"),
        counting_dir=Path(env["COUNTING_DIR"]) if env.get("COUNTING_DIR") else None,
        search_engine=_choice(env, "SEARCH_ENGINE", "whoosh", ("whoosh", "none")),
        host=env.get("HOST") or "127.0.0.1",
        port=_number(env, "PORT", 8000),
        web_workers=_number(env, "WEB_WORKERS", 2),
        log_level=_choice(env, "LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
        metrics_token=env.get("METRICS_TOKEN") or None,
        ai_base_url=_ai_base_url(env),
        ai_api_key=env.get("AI_API_KEY") or "",
        ai_model=env.get("AI_MODEL") or "",
        trusted_proxies=_number(env, "TRUSTED_PROXIES", 0),
    )


def _database_url(url: str) -> str:
    """Addresses of PostgreSQL come without a driver's name from most hosts; ours is psycopg."""
    for plain in ("postgres://", "postgresql://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _choice(env: Mapping[str, str], name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = env.get(name) or default
    if value not in allowed:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
    return value


def _number(env: Mapping[str, str], name: str, default: int) -> int:
    value = env.get(name) or str(default)
    if not (value.isascii() and value.isdigit()) or len(value) > 6:
        raise ConfigurationError(f"{name} is {value!r}; it must be a whole number.")
    return int(value)


def _ai_base_url(env: Mapping[str, str]) -> str | None:
    address = env.get("AI_BASE_URL") or None
    if address is not None and not address.startswith(("https://", "http://")):
        raise ConfigurationError(f"AI_BASE_URL is {address!r}; it must begin with https:// or http://.")
    if address is not None and not env.get("AI_MODEL"):
        raise ConfigurationError("AI_BASE_URL is set; AI_MODEL must name the model to ask.")
    return address


def _secret_key(env: Mapping[str, str], environment: str, instance: Path) -> str:
    key = env.get("SECRET_KEY", "")
    if environment == "production" and len(key) < 32:
        raise ConfigurationError("SECRET_KEY must be set to at least 32 characters in production.")
    return key or _kept_secret(instance / "secret.key")


def _kept_secret(file: Path) -> str:
    """Outside production a key is made once and kept, so that sign-ins outlive a restart."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(48))
        try:
            os.link(fresh, file)
        except FileExistsError:
            pass  # Another process was quicker; its key stands.
        finally:
            fresh.unlink()
    return file.read_text()


def _embedded_redis(instance: Path) -> str | None:
    """The address that the supervisor left beside the database, where it runs one."""
    address = instance / REDIS_ADDRESS_FILE
    return address.read_text().strip() if address.exists() else None
