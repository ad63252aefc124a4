"""The settings of services of others that the shop uses, each with the reader of its variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from app.config.variables import (
    LOCAL_HOSTS,
    ConfigurationError,
    Environment,
    read_choice,
    read_number,
    read_path,
    read_port,
    read_url,
)

HOST = r"([A-Za-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?"
# Default, shape and its description, in the order of S3Settings.
S3_SHAPES = {
    "S3_BUCKET": ("", "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket, such as shop-pictures"),
    "S3_REGION": ("us-east-1", "[a-z0-9-]+", "the name of a region, such as eu-west-1"),
    "S3_ENDPOINT": ("", f"(https?://{HOST})?", "an address such as https://s3.example.com"),
    "S3_PREFIX": ("", "([A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*)?", "a folder in the bucket, such as shop or shops/first"),
}
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
class OpenSearchSettings:
    """The settings of a cluster of OpenSearch. `url` is the address of a node, or of several; `ca_file` holds the
    certificate that signs theirs; `prefix` begins the names of the shop's indices; a search takes at most `seconds`."""

    url: str = field(default="", repr=False)
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    prefix: str = "shop"
    replicas: int = 0
    seconds: float = 2


@dataclass(frozen=True, slots=True)
class S3Settings:
    """The settings of S3-compatible storage. `endpoint` is "" for that of Amazon, `prefix` "" for the whole bucket."""

    bucket: str
    region: str = "us-east-1"
    endpoint: str = ""
    prefix: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)


def smtp_server(env: Environment) -> SmtpServer:
    security = read_choice(env, "SMTP_SECURITY", "starttls", tuple(SMTP_PORTS))
    host, user = env.get("SMTP_HOST") or "localhost", env.get("SMTP_USER") or ""
    if user and security == "none" and host not in LOCAL_HOSTS:
        raise ConfigurationError("SMTP_USER is set; SMTP_SECURITY must be starttls or tls, not to send it in the open.")
    return SmtpServer(
        host, read_port(env, "SMTP_PORT", SMTP_PORTS[security]), user, env.get("SMTP_PASSWORD") or "", security
    )


def stripe_settings(env: Environment) -> StripeSettings:
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
    address = read_url(env, "STRIPE_API_BASE")
    publishable_key = (env.get("STRIPE_PUBLISHABLE_KEY") or "").strip() or None
    return StripeSettings(key, secrets_of_webhooks, publishable_key, address.rstrip("/") if address else None)


def opensearch_settings(env: Environment, own_prefix: str) -> OpenSearchSettings:
    """Return the settings of the search cluster, by default with a prefix of this shop's own; empty ones for another
    engine. The adapter checks addresses and names (app/adapters/opensearch/addresses.py)."""
    if env.get("SEARCH_ENGINE") != "opensearch":
        return OpenSearchSettings()
    return OpenSearchSettings(
        url=env.get("OPENSEARCH_URL") or "",
        user=env.get("OPENSEARCH_USER") or "",
        password=env.get("OPENSEARCH_PASSWORD") or "",
        ca_file=read_path(env, "OPENSEARCH_CA"),
        prefix=env.get("OPENSEARCH_PREFIX") or own_prefix,
        replicas=read_number(env, "OPENSEARCH_REPLICAS", 0),
        seconds=max(1, read_number(env, "OPENSEARCH_TIMEOUT", 2)),
    )


def s3_settings(env: Environment) -> S3Settings | None:
    """Return the settings of S3-compatible storage, None where no bucket is named. Raises ConfigurationError."""
    if not env.get("S3_BUCKET") and env.get("PICTURES") != "s3":
        return None
    values = {name: (env.get(name) or default).strip("/") for name, (default, _, _) in S3_SHAPES.items()}
    for name, (_, shape, words) in S3_SHAPES.items():
        if not re.fullmatch(shape, values[name], re.ASCII):
            raise ConfigurationError(f"{name} is {values[name]!r}; it must be {words}.")
    key, secret = (env.get(name, "").strip() for name in ("S3_ACCESS_KEY", "S3_SECRET_KEY"))
    if not (key and secret):
        raise ConfigurationError("S3_BUCKET needs S3_ACCESS_KEY and S3_SECRET_KEY, a key that may use the bucket.")
    bucket, region, endpoint, prefix = values.values()
    return S3Settings(bucket, region, endpoint, prefix, key, secret)
