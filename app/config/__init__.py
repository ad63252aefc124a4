"""Every setting of the process, read once from the environment, with its default and meaning."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from sqlalchemy import make_url

from app.config.services import (
    OpenSearchSettings,
    S3Settings,
    SmtpServer,
    StripeSettings,
    opensearch_settings,
    s3_settings,
    smtp_server,
    stripe_settings,
)
from app.config.variables import (
    HIGHEST_PORT,
    LOCAL_HOSTS,
    ConfigurationError,
    Environment,
    read_addresses,
    read_choice,
    read_host_and_port,
    read_number,
    read_path,
    read_port,
    read_schedule,
    read_url,
)

__all__ = [
    "LOCAL_HOSTS",
    "Config",
    "ConfigurationError",
    "OpenSearchSettings",
    "S3Settings",
    "SmtpServer",
    "StripeSettings",
    "from_environment",
    "read_path",
]

INSTANCE = Path("instance")
REDIS_ADDRESS_FILE = "redis.url"
SECRET_KEY_FILE = "secret.key"
# Descriptors that the supervisor hands to its processes.
LISTENER, READY, MEMORY = "SHOP_LISTENER", "SHOP_READY", "SHOP_MEMORY"
MEMORY_NAME = "shop-memory"  # Of the anonymous file behind MEMORY.


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
    pictures: str = "files"
    s3: S3Settings | None = None
    counting_dir: Path | None = None
    counting: str = "files"
    limits_redis_url: str | None = field(default=None, repr=False)
    themes_dir: Path | None = None
    sitemap_dir: Path | None = None
    bundle_dir: Path | None = None
    sitemap_schedule: str = "0 */3 * * *"
    search_engine: str = "whoosh"
    opensearch: OpenSearchSettings = field(default_factory=OpenSearchSettings)
    embedding_model_dir: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    web_workers: int = 2
    drain_seconds: int = 0
    mcp_host: str = "127.0.0.1"
    mcp_port: int | None = 8001
    log_level: str = "INFO"
    metrics_token: str | None = None
    payment_processor: str = "simulator"
    stripe: StripeSettings = field(default_factory=StripeSettings)
    ai_base_url: str | None = None
    ai_api_key: str = ""
    ai_model: str = ""
    trusted_proxies: int = 0
    alert_email: tuple[str, ...] = ()
    alert_email_from: str = ""
    smtp: SmtpServer = field(default_factory=SmtpServer)
    mail_from: str = ""
    mail_dir: Path | None = None
    erasure_file: Path | None = None
    printer_networks: tuple[IPv4Network | IPv6Network, ...] | None = None
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
            "pictures": self.media_dir if self.pictures == "files" else None,
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
    def machine_file(self) -> Path:
        """The file that names this machine: beside the index, as the locks are, since it is what shares them."""
        return self._folder_beside / "machine.id"

    @property
    def queue_prefix(self) -> str:
        """The prefix of the queue's keys, made of the database's address: two shops that share a Redis but not a
        database do not share a queue."""
        return prefix_of(self.database_url)


def prefix_of(database_url: str) -> str:
    return "shop-" + hashlib.sha256(database_url.encode()).hexdigest()[:12]


def from_environment(environ: Environment | None = None) -> Config:
    """Return the configuration of the environment. Raises ConfigurationError for a value that cannot be used."""
    env = os.environ if environ is None else environ
    instance = instance_folder(env)
    environment = read_choice(env, "SHOP_ENV", "development", ("development", "production", "testing"))
    database_url = driver_url(env.get("DATABASE_URL") or f"sqlite:///{instance / 'shop.db'}")
    return Config(
        environment=environment,
        testing=environment == "testing",
        secret_key=_secret_key(env, environment, instance),
        database_url=database_url,
        redis_url=env.get("REDIS_URL") or _embedded_redis(instance),
        instance_dir=instance if env.get("INSTANCE_DIR") else None,
        index_dir=Path(env.get("INDEX_DIR") or instance / "index"),
        media_dir=Path(env.get("MEDIA_DIR") or instance / "media"),
        pictures=read_choice(env, "PICTURES", "files", ("files", "s3")),
        s3=s3_settings(env),
        counting_dir=read_path(env, "COUNTING_DIR"),
        counting=_counting(env),
        limits_redis_url=_limits_redis_url(env),
        themes_dir=_themes_folder(env),
        sitemap_dir=read_path(env, "SITEMAP_DIR"),
        bundle_dir=read_path(env, "BUNDLE_DIR"),
        sitemap_schedule=read_schedule(env, "SITEMAP_SCHEDULE", "0 */3 * * *"),
        search_engine=read_choice(env, "SEARCH_ENGINE", "whoosh", ("whoosh", "opensearch", "none")),
        opensearch=opensearch_settings(env, prefix_of(database_url)),
        embedding_model_dir=read_path(env, "EMBEDDING_MODEL_DIR"),
        host=env.get("HOST") or "127.0.0.1",
        port=read_port(env, "PORT", 8000),
        web_workers=max(1, read_number(env, "WEB_WORKERS", 2)),
        drain_seconds=read_number(env, "DRAIN_SECONDS", 0),
        mcp_host=env.get("MCP_HOST") or "127.0.0.1",
        mcp_port=_mcp_port(env),
        log_level=read_choice(env, "LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
        metrics_token=env.get("METRICS_TOKEN") or None,
        payment_processor=_payment_processor(env, environment),
        stripe=stripe_settings(env),
        ai_base_url=_ai_base_url(env),
        ai_api_key=env.get("AI_API_KEY") or "",
        ai_model=env.get("AI_MODEL") or "",
        trusted_proxies=read_number(env, "TRUSTED_PROXIES", 0),
        alert_email=read_addresses(env, "ALERT_EMAIL"),
        alert_email_from=_alert_sender(env),
        smtp=smtp_server(env),
        mail_from=_mail_from(env),
        mail_dir=read_path(env, "MAIL_DIR"),
        erasure_file=read_path(env, "ERASURE_LIST"),
        printer_networks=_printer_networks(env),
        alert_webhook_url=read_url(env, "ALERT_WEBHOOK_URL"),
        alert_webhook_secret=env.get("ALERT_WEBHOOK_SECRET") or "",
        alert_free_disk_mb=read_number(env, "ALERT_FREE_DISK_MB", 512),
        backup_dir=read_path(env, "BACKUP_DIR"),
        alert_backup_days=max(1, read_number(env, "ALERT_BACKUP_DAYS", 2)),
        alert_certificate_host=read_host_and_port(env, "ALERT_CERTIFICATE_HOST"),
        clock_tolerance=timedelta(days=read_number(env, "CLOCK_TOLERANCE_DAYS", 1)),
        memory=read_number(env, MEMORY, 0) or None,
    )


def instance_folder(env: Environment) -> Path:
    """Return INSTANCE_DIR, the folder of all that the shop stores and that no other setting places. Relative ones begin
    in the working directory. Raises ConfigurationError for what is no folder."""
    folder = (read_path(env, "INSTANCE_DIR") or INSTANCE).absolute()
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"INSTANCE_DIR is {str(folder)!r}; it must be a folder, or the name of a new one.")
    return folder


def _mcp_port(env: Environment) -> int | None:
    """Return MCP_PORT, by default the port after PORT; None where it is 0."""
    own = read_port(env, "PORT", 8000)
    if own == HIGHEST_PORT and not env.get("MCP_PORT"):
        raise ConfigurationError(
            f"PORT is '{own}', and MCP_PORT, which is not set, would be the port after it: set MCP_PORT to a port, or "
            "to 0 to do without the tools for AI agents."
        )
    return read_port(env, "MCP_PORT", own + 1) or None


def _themes_folder(env: Environment) -> Path | None:
    folder = read_path(env, "THEMES_DIR")
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"THEMES_DIR is {str(folder)!r}; it must be a folder of themes.")
    return folder


def _alert_sender(env: Environment) -> str:
    """Return the sender of alerts: the address that is named, else the first that gets them; empty without any."""
    return next(iter((*read_addresses(env, "ALERT_EMAIL_FROM"), *read_addresses(env, "ALERT_EMAIL"))), "")


def _mail_from(env: Environment) -> str:
    """Return the sender of mails to customers, else that of alerts where a mail server is named; "" where mails are
    kept in a folder."""
    names = ("MAIL_FROM", "ALERT_EMAIL_FROM", "ALERT_EMAIL") if env.get("SMTP_HOST") else ("MAIL_FROM",)
    return next((address for name in names for address in read_addresses(env, name)), "")


def driver_url(url: str) -> str:
    """Return the address of the database. One of PostgreSQL, which most hosts write without a driver, gets the driver
    psycopg."""
    for plain in ("postgres://", "postgresql://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _counting(env: Environment) -> str:
    """Return where searches wait to be counted. The embedded Redis serves one machine, whose files are as good."""
    place = read_choice(env, "COUNTING", "files", ("files", "redis"))
    if place == "redis" and not env.get("REDIS_URL"):
        raise ConfigurationError("COUNTING is 'redis'; REDIS_URL must name the Redis of all machines.")
    return place


def _limits_redis_url(env: Environment) -> str | None:
    url = env.get("LIMITS_REDIS_URL") or None
    if url is not None and not url.startswith(("redis://", "rediss://", "unix://")):
        raise ConfigurationError("LIMITS_REDIS_URL must begin with redis://, rediss:// or unix://.")
    return url


def _ai_base_url(env: Environment) -> str | None:
    address = read_url(env, "AI_BASE_URL")
    if address is not None and not env.get("AI_MODEL"):
        raise ConfigurationError("AI_BASE_URL is set; AI_MODEL must name the model to ask.")
    return address


def _secret_key(env: Environment, environment: str, instance: Path) -> str:
    key = env.get("SECRET_KEY", "")
    if environment == "production" and len(key) < 32:
        raise ConfigurationError("SECRET_KEY must be set to at least 32 characters in production.")
    return key or _kept_secret(instance / SECRET_KEY_FILE)


def _payment_processor(env: Environment, environment: str) -> str:
    """Return the payment processor. Raises ConfigurationError for the simulator in production unless POS_SIMULATOR
    confirms it."""
    processor = read_choice(env, "PAYMENT_PROCESSOR", "simulator", ("simulator", "stripe", "none"))
    if processor == "simulator" and environment == "production" and env.get("POS_SIMULATOR") != "1":
        raise ConfigurationError(
            "PAYMENT_PROCESSOR is 'simulator', whose payments move no money. In production set it to stripe, to none "
            "for a shop without a till, or confirm the simulator with POS_SIMULATOR=1."
        )
    return processor


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


def _printer_networks(env: Environment) -> tuple[IPv4Network | IPv6Network, ...] | None:
    """Return the networks in which receipts are printed: none of them for `none`, None where nothing is said."""
    value = env.get("PRINTER_NETWORKS") or None
    if value is None or value == "none":
        return None if value is None else ()
    try:
        return tuple(ip_network(network.strip()) for network in value.split(","))
    except ValueError:
        raise ConfigurationError(
            f"PRINTER_NETWORKS is {value!r}; it must be networks such as 192.168.1.0/24, separated by commas, or none."
        ) from None
