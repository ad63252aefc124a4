"""Every setting of the process, read once from the environment, with its default and meaning."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import make_url

from app.environment import (
    HIGHEST_PORT,
    LOCAL_HOSTS,
    ConfigurationError,
    addresses,
    choice,
    host_and_port,
    number,
    path,
    port,
    safe_url,
    schedule,
)

INSTANCE = Path("instance")
REDIS_ADDRESS_FILE = "redis.url"
SECRET_KEY_FILE = "secret.key"
# Descriptors that the supervisor hands to its processes.
LISTENER, READY, MEMORY = "SHOP_LISTENER", "SHOP_READY", "SHOP_MEMORY"
MEMORY_NAME = "shop-memory"  # Of the anonymous file behind MEMORY.
SMTP_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """The settings of an SMTP server. `security` is `starttls`, `tls` (from the first byte on) or `none`."""

    host: str = "localhost"
    port: int = 587
    user: str = ""
    password: str = ""
    security: str = "starttls"


@dataclass(frozen=True, slots=True)
class StripeSettings:
    """The settings of Stripe. `webhook_secrets` are the signing secrets of the webhook endpoints: that of the shop's
    own account, that of connected accounts."""

    secret_key: str = field(default="", repr=False)
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)
    publishable_key: str | None = None
    api_base: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a process, mostly from environment variables, which README lists for operators."""

    environment: str = "development"
    secret_key: str = ""
    database_url: str = ""
    redis_url: str | None = None
    instance_dir: Path | None = None
    index_dir: Path = INSTANCE / "index"
    media_dir: Path = INSTANCE / "media"
    counting_dir: Path | None = None
    themes_dir: Path | None = None
    sitemap_dir: Path | None = None
    bundle_dir: Path | None = None
    sitemap_schedule: str = "0 */3 * * *"
    search_engine: str = "whoosh"
    embedding_model_dir: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    web_workers: int = 2
    mcp_host: str = "127.0.0.1"
    mcp_port: int | None = 8001
    log_level: str = "INFO"
    metrics_token: str | None = None
    payment_processor: str = "simulator"
    stripe: StripeSettings = StripeSettings()
    ai_base_url: str | None = None
    ai_api_key: str = ""
    ai_model: str = ""
    trusted_proxies: int = 0
    alert_email: tuple[str, ...] = ()
    alert_email_from: str = ""
    smtp: SmtpServer = SmtpServer()
    mail_from: str = ""
    mail_dir: Path | None = None
    erasure_file: Path | None = None
    alert_webhook_url: str | None = None
    alert_webhook_secret: str = ""
    alert_free_disk_mb: int = 512
    backup_dir: Path | None = None
    alert_backup_days: int = 2
    alert_certificate_host: tuple[str, int] | None = None
    clock_tolerance: timedelta = timedelta(days=1)
    password_memory_kib: int = 19_456
    memory: int | None = None
    testing: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def production(self) -> bool:
        return self.environment == "production"

    def key_for(self, purpose: str) -> bytes:
        """Return a key for a purpose: 32 bytes that reveal nothing about the secret nor about the keys for other
        purposes."""
        return hmac.digest(self.secret_key.encode(), f"shop/{purpose}".encode(), "sha256")

    @property
    def instance_folder(self) -> Path:
        """The folder that the running shop claims, and of what no other setting places."""
        return self.instance_dir or INSTANCE.absolute()

    @property
    def _folder_beside(self) -> Path:
        """The instance folder where one is named; else that of the index, which may have been placed by itself."""
        return self.instance_dir or self.index_dir.parent

    @property
    def counting_folder(self) -> Path:
        """The folder of searches that wait to be counted: beside the index unless another is named."""
        return self.counting_dir or self._folder_beside / "counting"

    @property
    def sitemap_folder(self) -> Path:
        """The folder of the sitemaps: beside the index unless another is named."""
        return self.sitemap_dir or self._folder_beside / "sitemaps"

    @property
    def bundle_folder(self) -> Path:
        """The folder in which uploaded and exported bundles lie for a day: beside the index unless another is named."""
        return self.bundle_dir or self._folder_beside / "bundles"

    @property
    def mail_folder(self) -> Path:
        """The folder of mails to customers while no mail server is set up: beside the database unless another is
        named."""
        return self.mail_dir or self._folder_by_database / "mail"

    @property
    def erasure_list(self) -> Path:
        """The list of erased persons, as hashes: beside the database unless a file is named."""
        return self.erasure_file or self._folder_by_database / "erasures.list"

    @property
    def _folder_by_database(self) -> Path:
        """The instance folder where one is named; else that of the database, and without a file of it, of the index."""
        return self.instance_dir or self._database_folder or self.index_dir.parent

    @property
    def _database_folder(self) -> Path | None:
        """The folder of the database; None for a database that is no file."""
        return next((file.parent for file in self.database_files), None)

    @property
    def database_files(self) -> Sequence[Path]:
        """The files of the database and of its log, which need not be there; none for one that is no file."""
        database = make_url(self.database_url)
        is_file = database.get_backend_name() == "sqlite" and database.database
        return [Path(f"{database.database}{ending}") for ending in ("", "-wal", "-shm")] if is_file else []

    @property
    def data_folders(self) -> Mapping[str, Path]:
        """The folders to which the shop writes on this machine, by what lies there."""
        folders = {
            "database": self._database_folder,
            "index": self.index_dir,
            "pictures": self.media_dir,
            "counting": self.counting_folder,
            "sitemaps": self.sitemap_folder,
            "bundles": self.bundle_folder,
            "mails": None if self.mail_from else self.mail_folder,
        }
        return {name: folder for name, folder in folders.items() if folder is not None}

    @property
    def lock_folder(self) -> Path:
        """The folder of the locks by which workers of this machine show that they live: beside the index."""
        return self._folder_beside / "locks"

    @property
    def queue_prefix(self) -> str:
        """The prefix of the queue's keys, made of the database's address: two shops that share a Redis but not a
        database do not share a queue."""
        return "shop-" + hashlib.sha256(self.database_url.encode()).hexdigest()[:12]


def from_environment(environ: Mapping[str, str] | None = None) -> Config:
    """Return the configuration of the environment. Raises ConfigurationError for a value that cannot be used."""
    env = os.environ if environ is None else environ
    instance = instance_folder(env)
    environment = choice(env, "SHOP_ENV", "development", ("development", "production", "testing"))
    return Config(
        environment=environment,
        testing=environment == "testing",
        secret_key=_secret_key(env, environment, instance),
        database_url=_database_url(env.get("DATABASE_URL") or f"sqlite:///{instance / 'shop.db'}"),
        redis_url=env.get("REDIS_URL") or _embedded_redis(instance),
        instance_dir=instance if env.get("INSTANCE_DIR") else None,
        index_dir=Path(env.get("INDEX_DIR") or instance / "index"),
        media_dir=Path(env.get("MEDIA_DIR") or instance / "media"),
        counting_dir=path(env, "COUNTING_DIR"),
        themes_dir=_themes_folder(env),
        sitemap_dir=path(env, "SITEMAP_DIR"),
        bundle_dir=path(env, "BUNDLE_DIR"),
        sitemap_schedule=schedule(env, "SITEMAP_SCHEDULE", "0 */3 * * *"),
        search_engine=choice(env, "SEARCH_ENGINE", "whoosh", ("whoosh", "none")),
        embedding_model_dir=path(env, "EMBEDDING_MODEL_DIR"),
        host=env.get("HOST") or "127.0.0.1",
        port=port(env, "PORT", 8000),
        web_workers=max(1, number(env, "WEB_WORKERS", 2)),
        mcp_host=env.get("MCP_HOST") or "127.0.0.1",
        mcp_port=_mcp_port(env),
        log_level=choice(env, "LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
        metrics_token=env.get("METRICS_TOKEN") or None,
        payment_processor=_payment_processor(env, environment),
        stripe=_stripe(env),
        ai_base_url=_ai_base_url(env),
        ai_api_key=env.get("AI_API_KEY") or "",
        ai_model=env.get("AI_MODEL") or "",
        trusted_proxies=number(env, "TRUSTED_PROXIES", 0),
        alert_email=addresses(env, "ALERT_EMAIL"),
        alert_email_from=next(iter((*addresses(env, "ALERT_EMAIL_FROM"), *addresses(env, "ALERT_EMAIL"))), ""),
        smtp=_smtp(env),
        mail_from=_mail_from(env),
        mail_dir=path(env, "MAIL_DIR"),
        erasure_file=path(env, "ERASURE_LIST"),
        alert_webhook_url=safe_url(env, "ALERT_WEBHOOK_URL"),
        alert_webhook_secret=env.get("ALERT_WEBHOOK_SECRET") or "",
        alert_free_disk_mb=number(env, "ALERT_FREE_DISK_MB", 512),
        backup_dir=path(env, "BACKUP_DIR"),
        alert_backup_days=max(1, number(env, "ALERT_BACKUP_DAYS", 2)),
        alert_certificate_host=host_and_port(env, "ALERT_CERTIFICATE_HOST"),
        clock_tolerance=timedelta(days=number(env, "CLOCK_TOLERANCE_DAYS", 1)),
        memory=number(env, MEMORY, 0) or None,
    )


def instance_folder(env: Mapping[str, str]) -> Path:
    """Return INSTANCE_DIR, the folder of all that the shop stores and that no other setting places. Relative ones begin
    in the working directory. Raises ConfigurationError for what is no folder."""
    folder = (path(env, "INSTANCE_DIR") or INSTANCE).absolute()
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"INSTANCE_DIR is {str(folder)!r}; it must be a folder, or the name of a new one.")
    return folder


def _mcp_port(env: Mapping[str, str]) -> int | None:
    """Return MCP_PORT, by default the port after PORT; None where it is 0."""
    own = port(env, "PORT", 8000)
    if own == HIGHEST_PORT and not env.get("MCP_PORT"):
        raise ConfigurationError(
            f"PORT is '{own}', and MCP_PORT, which is not set, would be the port after it: set MCP_PORT to a port, or "
            "to 0 to do without the tools for AI agents."
        )
    return port(env, "MCP_PORT", own + 1) or None


def _themes_folder(env: Mapping[str, str]) -> Path | None:
    folder = path(env, "THEMES_DIR")
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"THEMES_DIR is {str(folder)!r}; it must be a folder of themes.")
    return folder


def _smtp(env: Mapping[str, str]) -> SmtpServer:
    security = choice(env, "SMTP_SECURITY", "starttls", tuple(SMTP_PORTS))
    host, user = env.get("SMTP_HOST") or "localhost", env.get("SMTP_USER") or ""
    if user and security == "none" and host not in LOCAL_HOSTS:
        raise ConfigurationError("SMTP_USER is set; SMTP_SECURITY must be starttls or tls, not to send it in the open.")
    return SmtpServer(
        host, port(env, "SMTP_PORT", SMTP_PORTS[security]), user, env.get("SMTP_PASSWORD") or "", security
    )


def _mail_from(env: Mapping[str, str]) -> str:
    """Return the sender of mails to customers, else that of alerts where a mail server is named; "" where mails are
    kept in a folder."""
    names = ("MAIL_FROM", "ALERT_EMAIL_FROM", "ALERT_EMAIL") if env.get("SMTP_HOST") else ("MAIL_FROM",)
    return next((address for name in names for address in addresses(env, name)), "")


def _database_url(url: str) -> str:
    """Return the address of the database. One of PostgreSQL, which most hosts write without a driver, gets the driver
    psycopg."""
    for plain in ("postgres://", "postgresql://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _ai_base_url(env: Mapping[str, str]) -> str | None:
    address = safe_url(env, "AI_BASE_URL")
    if address is not None and not env.get("AI_MODEL"):
        raise ConfigurationError("AI_BASE_URL is set; AI_MODEL must name the model to ask.")
    return address


def _secret_key(env: Mapping[str, str], environment: str, instance: Path) -> str:
    key = env.get("SECRET_KEY", "")
    if environment == "production" and len(key) < 32:
        raise ConfigurationError("SECRET_KEY must be set to at least 32 characters in production.")
    return key or _kept_secret(instance / SECRET_KEY_FILE)


def _payment_processor(env: Mapping[str, str], environment: str) -> str:
    """Return the payment processor. Raises ConfigurationError for the simulator in production unless POS_SIMULATOR
    confirms it."""
    processor = choice(env, "PAYMENT_PROCESSOR", "simulator", ("simulator", "stripe", "none"))
    if processor == "simulator" and environment == "production" and env.get("POS_SIMULATOR") != "1":
        raise ConfigurationError(
            "PAYMENT_PROCESSOR is 'simulator', whose payments move no money. In production set it to stripe, to none "
            "for a shop without a till, or confirm the simulator with POS_SIMULATOR=1."
        )
    return processor


def _stripe(env: Mapping[str, str]) -> StripeSettings:
    """Return the settings of Stripe, empty ones for another processor. Raises ConfigurationError without a secret key
    or a webhook secret: without the latter any client could report a payment."""
    if env.get("PAYMENT_PROCESSOR") != "stripe":
        return StripeSettings()
    key = (env.get("STRIPE_SECRET_KEY") or "").strip()
    if not key or key.startswith("pk_"):
        raise ConfigurationError(
            "PAYMENT_PROCESSOR is 'stripe'; STRIPE_SECRET_KEY must be set to a secret or restricted key (sk_… or rk_…)."
        )
    secrets_of_webhooks = tuple(secret.strip() for secret in (env.get("STRIPE_WEBHOOK_SECRET") or "").split(","))
    if not all(secrets_of_webhooks):
        raise ConfigurationError(
            "PAYMENT_PROCESSOR is 'stripe'; STRIPE_WEBHOOK_SECRET must be set to the signing secret of the webhook "
            "endpoint (whsec_…), or to those of several, separated by commas; none of them may be empty."
        )
    address = safe_url(env, "STRIPE_API_BASE")
    publishable_key = (env.get("STRIPE_PUBLISHABLE_KEY") or "").strip() or None
    return StripeSettings(key, secrets_of_webhooks, publishable_key, address.rstrip("/") if address else None)


def _kept_secret(file: Path) -> str:
    """Return the secret in a file: outside production a key is made once and kept, so that sign-ins outlive a
    restart."""
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
    """Return the address that the supervisor wrote into the instance folder; None where it runs no Redis."""
    address = instance / REDIS_ADDRESS_FILE
    return address.read_text().strip() if address.exists() else None
