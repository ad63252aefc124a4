"""Settings are read once, and one that cannot be used is named."""

import os
import stat
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from app.config import Config, ConfigurationError, OpenSearchSettings, SmtpServer, StripeSettings, from_environment


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_needs_to_be_set(elsewhere: Path) -> None:
    config = from_environment({})
    assert config.database_url == f"sqlite:///{elsewhere}/instance/shop.db"
    assert (config.host, config.port, config.web_workers) == ("127.0.0.1", 8000, 2)
    assert config.redis_url is None
    assert not config.production


def test_everything_that_no_setting_places_lies_in_the_instance_folder(elsewhere: Path) -> None:
    (elsewhere / "two").mkdir()
    (elsewhere / "two" / "redis.url").write_text("unix:///of/two")
    config = from_environment({"INSTANCE_DIR": "two", "INDEX_DIR": "/srv/index"})
    assert config.instance_folder == elsewhere / "two"
    assert config.database_url == f"sqlite:///{elsewhere}/two/shop.db"
    assert config.redis_url == "unix:///of/two"
    assert config.secret_key == (elsewhere / "two" / "secret.key").read_text()
    placed = [config.media_dir, config.counting_folder, config.sitemap_folder, config.bundle_folder, config.mail_folder]
    placed += [config.erasure_list, config.lock_folder]
    assert {path.parent for path in placed} == {elsewhere / "two"}
    assert config.index_dir == Path("/srv/index")
    assert from_environment({"INSTANCE_DIR": "two"}).index_dir == elsewhere / "two" / "index"
    assert not (elsewhere / "instance").exists()


def test_without_an_instance_folder_the_rest_lies_beside_the_index(elsewhere: Path) -> None:
    config = from_environment({"INDEX_DIR": "/srv/index"})
    assert config.instance_folder == elsewhere / "instance"
    assert (config.lock_folder, config.counting_folder) == (Path("/srv/locks"), Path("/srv/counting"))


def test_a_file_is_no_instance_folder(elsewhere: Path) -> None:
    (elsewhere / "file").touch()
    with pytest.raises(ConfigurationError, match=r"INSTANCE_DIR is '.*/file'; it must be a folder"):
        from_environment({"INSTANCE_DIR": "file"})


def test_a_sentence_model_may_lie_in_a_folder_of_its_own() -> None:
    assert from_environment({}).embedding_model_dir is None
    assert from_environment({"EMBEDDING_MODEL_DIR": "/srv/model"}).embedding_model_dir == Path("/srv/model")


def test_a_secret_made_here_is_kept_and_nobody_elses(elsewhere: Path) -> None:
    assert from_environment({}).secret_key == from_environment({}).secret_key
    assert len(from_environment({}).secret_key) >= 32
    assert stat.S_IMODE(os.stat(elsewhere / "instance" / "secret.key").st_mode) == 0o600


@pytest.mark.parametrize("key", [None, "", "short"])
def test_production_wants_a_long_secret(key: str | None) -> None:
    with pytest.raises(ConfigurationError, match="SECRET_KEY must be set to at least 32 characters"):
        from_environment({"SHOP_ENV": "production"} | ({"SECRET_KEY": key} if key is not None else {}))


PRODUCTION = {"SHOP_ENV": "production", "SECRET_KEY": "k" * 32}
STRIPE = {"PAYMENT_PROCESSOR": "stripe", "STRIPE_SECRET_KEY": "sk_test", "STRIPE_WEBHOOK_SECRET": "whsec"}


def test_production_does_not_start_with_the_simulator_unless_it_is_meant() -> None:
    with pytest.raises(ConfigurationError, match=r"stripe.* none .*POS_SIMULATOR=1"):
        from_environment(PRODUCTION)
    assert from_environment(PRODUCTION | {"POS_SIMULATOR": "1"}).payment_processor == "simulator"
    assert from_environment(PRODUCTION | {"PAYMENT_PROCESSOR": "none"}).payment_processor == "none"
    assert from_environment(PRODUCTION | STRIPE).payment_processor == "stripe"
    assert from_environment({}).payment_processor == "simulator"


@pytest.mark.parametrize("name", ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"])
@pytest.mark.parametrize("value", [None, "", " "])
def test_stripe_wants_its_key_and_the_secret_of_its_webhooks(name: str, value: str | None) -> None:
    env = {key: given for key, given in STRIPE.items() if key != name} | ({} if value is None else {name: value})
    with pytest.raises(ConfigurationError, match=f"{name} must be set"):
        from_environment(env)


def test_what_is_not_secret_cannot_be_the_secret_key() -> None:
    with pytest.raises(ConfigurationError, match="STRIPE_SECRET_KEY must be set to a secret or restricted key"):
        from_environment(STRIPE | {"STRIPE_SECRET_KEY": "pk_test"})


def test_several_webhook_endpoints_have_several_secrets_and_none_may_be_empty() -> None:
    env = STRIPE | {"STRIPE_WEBHOOK_SECRET": "whsec_own, whsec_connect"}
    assert from_environment(env).stripe.webhook_secrets == ("whsec_own", "whsec_connect")
    for value in ("whsec_own,", ",", "whsec_own,,whsec_connect"):
        with pytest.raises(ConfigurationError, match="none of them may be empty"):
            from_environment(STRIPE | {"STRIPE_WEBHOOK_SECRET": value})


def test_stripe_is_reached_encrypted_or_on_this_machine() -> None:
    assert from_environment(STRIPE).stripe.api_base is None
    local = from_environment(STRIPE | {"STRIPE_API_BASE": "http://localhost:12111/"})
    assert local.stripe.api_base == "http://localhost:12111"
    with pytest.raises(ConfigurationError, match="STRIPE_API_BASE must begin with https://"):
        from_environment(STRIPE | {"STRIPE_API_BASE": "http://stripe.example"})


def test_nothing_of_stripe_is_read_for_another_processor() -> None:
    assert from_environment({"STRIPE_API_BASE": "nonsense", "STRIPE_SECRET_KEY": "x"}).stripe == StripeSettings()


def test_the_configuration_in_a_log_line_names_no_secret_of_stripe() -> None:
    said = repr(from_environment(STRIPE | {"STRIPE_SECRET_KEY": "sk_hidden", "STRIPE_WEBHOOK_SECRET": "whsec_hidden"}))
    assert "hidden" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SHOP_ENV", "prod"),
        ("SEARCH_ENGINE", "solr"),
        ("PAYMENT_PROCESSOR", "cash"),
        ("PORT", "http"),
        ("DRAIN_SECONDS", "soon"),
        ("PORT", "-1"),
        ("PORT", "80000"),
        ("MCP_PORT", "65536"),
        ("SMTP_PORT", "99999"),
        ("LOG_LEVEL", "loud"),
        ("COUNTING", "kafka"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is '{value}'"):
        from_environment({name: value})


def test_the_highest_port_leaves_none_for_the_tools_of_agents() -> None:
    with pytest.raises(ConfigurationError, match="PORT is '65535', and MCP_PORT, which is not set"):
        from_environment({"PORT": "65535"})
    assert from_environment({"PORT": "65535", "MCP_PORT": "0"}).mcp_port is None
    assert from_environment({"PORT": "65535", "MCP_PORT": "8001"}).mcp_port == 8001


CLUSTER = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_URL": "https://search.example:9200"}


def test_a_cluster_has_a_prefix_of_the_shop_s_own_and_time_limits() -> None:
    found = from_environment(CLUSTER).opensearch
    assert (found.prefix, found.seconds, found.replicas) == (from_environment({}).queue_prefix, 2, 0)
    set_up = {"OPENSEARCH_PREFIX": "mine", "OPENSEARCH_TIMEOUT": "5", "OPENSEARCH_REPLICAS": "1"}
    found = from_environment(CLUSTER | set_up | {"OPENSEARCH_CA": "/srv/ca.pem"}).opensearch
    assert (found.prefix, found.seconds, found.replicas, found.ca_file) == ("mine", 5, 1, Path("/srv/ca.pem"))


def test_nothing_of_a_cluster_is_read_for_another_engine() -> None:
    assert from_environment({"OPENSEARCH_URL": "x", "OPENSEARCH_TIMEOUT": "y"}).opensearch == OpenSearchSettings()


def test_the_configuration_in_a_log_line_names_no_secret_of_a_cluster() -> None:
    env = CLUSTER | {"OPENSEARCH_URL": "https://me:hidden@search.example", "OPENSEARCH_PASSWORD": "hidden"}
    assert "hidden" not in repr(from_environment(env))


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_gets_the_driver(scheme: str) -> None:
    assert from_environment({"DATABASE_URL": f"{scheme}://db/shop"}).database_url == "postgresql+psycopg://db/shop"


def test_commands_find_the_queue_that_the_supervisor_started(elsewhere: Path) -> None:
    (elsewhere / "instance").mkdir()
    (elsewhere / "instance" / "redis.url").write_text("unix:///run/redis.sock")
    assert from_environment({}).redis_url == "unix:///run/redis.sock"
    assert from_environment({"REDIS_URL": "redis://other"}).redis_url == "redis://other"


def test_two_shops_on_one_redis_have_queues_of_their_own() -> None:
    assert Config(database_url="sqlite:///a").queue_prefix != Config(database_url="sqlite:///b").queue_prefix


def test_searches_wait_beside_the_index_unless_another_folder_is_named(elsewhere: Path) -> None:
    assert from_environment({}).counting_folder == elsewhere / "instance" / "counting"
    assert from_environment({"INDEX_DIR": "/data/index"}).counting_folder == Path("/data/counting")
    assert from_environment({"COUNTING_DIR": "/data/spool"}).counting_folder == Path("/data/spool")


def test_searches_wait_in_files_unless_a_redis_of_all_machines_is_named(elsewhere: Path) -> None:
    """The embedded one is of one machine, and its address is nobody's decision."""
    assert from_environment({}).counting == "files"
    assert from_environment({"COUNTING": "redis", "REDIS_URL": "redis://queue"}).counting == "redis"
    (elsewhere / "instance" / "redis.url").write_text("unix:///run/redis.sock")
    with pytest.raises(ConfigurationError, match="COUNTING is 'redis'; REDIS_URL must name the Redis of all machines"):
        from_environment({"COUNTING": "redis"})


def test_limits_are_of_one_machine_unless_a_redis_for_them_is_named() -> None:
    assert from_environment({"REDIS_URL": "redis://queue"}).limits_redis_url is None
    for url in ("redis://limits:6379", "rediss://:hidden@limits", "unix:///run/limits.sock"):
        config = from_environment({"LIMITS_REDIS_URL": url})
        assert config.limits_redis_url == url and "hidden" not in repr(config)
    with pytest.raises(ConfigurationError, match="LIMITS_REDIS_URL must begin with redis://, rediss:// or unix://"):
        from_environment({"LIMITS_REDIS_URL": "http://limits"})


def test_sitemaps_lie_beside_the_index_unless_another_folder_is_named(elsewhere: Path) -> None:
    assert from_environment({}).sitemap_folder == elsewhere / "instance" / "sitemaps"
    assert from_environment({"INDEX_DIR": "/data/index"}).sitemap_folder == Path("/data/sitemaps")
    assert from_environment({"SITEMAP_DIR": "/data/maps"}).sitemap_folder == Path("/data/maps")


def test_sitemaps_are_written_every_three_hours_unless_the_schedule_says_otherwise() -> None:
    assert from_environment({}).sitemap_schedule == "0 */3 * * *"
    assert from_environment({"SITEMAP_SCHEDULE": "30 4 * * 1-5"}).sitemap_schedule == "30 4 * * 1-5"


@pytest.mark.parametrize("value", ["hourly", "61 * * * *", "* * * *", "* * * * * *", "0 */3 * * * ; rm"])
def test_a_schedule_that_is_no_cron_expression_stops_the_start(value: str) -> None:
    with pytest.raises(ConfigurationError, match="SITEMAP_SCHEDULE"):
        from_environment({"SITEMAP_SCHEDULE": value})


def test_alerts_go_to_nobody_unless_somebody_is_named() -> None:
    config = from_environment({})
    assert (config.alert_email, config.alert_webhook_url, config.alert_free_disk_mb) == ((), None, 512)


def test_the_mail_server_of_alerts() -> None:
    env = {
        "ALERT_EMAIL": "a@shop.test, b@shop.test",
        "SMTP_HOST": "mail.test",
        "SMTP_SECURITY": "tls",
        "SMTP_USER": "u",
    }
    config = from_environment(env | {"SMTP_PASSWORD": "p"})
    assert config.alert_email == ("a@shop.test", "b@shop.test") and config.alert_email_from == "a@shop.test"
    assert config.smtp == SmtpServer("mail.test", 465, "u", "p", "tls")
    assert from_environment(env | {"ALERT_EMAIL_FROM": "shop@shop.test"}).alert_email_from == "shop@shop.test"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALERT_EMAIL", "nobody"),
        ("ALERT_EMAIL", "a@b.test\r\nBcc: c@d.test"),
        ("ALERT_EMAIL_FROM", "Shop <shop@shop.test>"),
        ("ALERT_WEBHOOK_URL", "http://hooks.example/alerts"),
        ("ALERT_WEBHOOK_URL", "ftp://localhost/alerts"),
        ("THEMES_DIR", "no/such/folder"),
        ("ALERT_WEBHOOK_URL", "https://"),
        ("ALERT_WEBHOOK_URL", "https://[::1/alerts"),
        ("ALERT_WEBHOOK_URL", "https://hooks.example:port/"),
        ("SMTP_SECURITY", "ssl"),
        ("ALERT_FREE_DISK_MB", "-1"),
        ("ALERT_BACKUP_DAYS", "two"),
        ("ALERT_CERTIFICATE_HOST", "https://shop.example"),
        ("ALERT_CERTIFICATE_HOST", "shop.example/"),
        ("ALERT_CERTIFICATE_HOST", "shop.example:port"),
        ("ALERT_CERTIFICATE_HOST", "shop example"),
        ("ALERT_CERTIFICATE_HOST", "me@shop.example"),
        ("ALERT_CERTIFICATE_HOST", ":443"),
    ],
)
def test_a_wrong_setting_of_alerts_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        from_environment({name: value})


@pytest.mark.parametrize(
    ("value", "server"),
    [
        ("", None),
        ("shop.example", ("shop.example", 443)),
        ("shop.example:8443", ("shop.example", 8443)),
        ("[::1]:8443", ("::1", 8443)),
    ],
)
def test_the_certificate_of_a_host_is_at_the_port_of_https_or_another(
    value: str, server: tuple[str, int] | None
) -> None:
    assert from_environment({"ALERT_CERTIFICATE_HOST": value}).alert_certificate_host == server


def test_a_backup_is_looked_for_only_in_a_folder_that_is_named() -> None:
    config = from_environment({})
    assert (config.backup_dir, config.alert_backup_days) == (None, 2)
    config = from_environment({"BACKUP_DIR": "/srv/backups", "ALERT_BACKUP_DAYS": "0"})
    assert (config.backup_dir, config.alert_backup_days) == (Path("/srv/backups"), 1)


@pytest.mark.parametrize("address", ["https://hooks.example/x", "http://localhost:9/x", "http://127.0.0.1/x"])
def test_a_webhook_is_encrypted_or_on_this_machine(address: str) -> None:
    assert from_environment({"ALERT_WEBHOOK_URL": address}).alert_webhook_url == address


def test_a_password_is_not_sent_in_the_open() -> None:
    env = {"SMTP_HOST": "mail.test", "SMTP_SECURITY": "none", "SMTP_USER": "u"}
    with pytest.raises(ConfigurationError, match="SMTP_SECURITY"):
        from_environment(env)
    assert from_environment(env | {"SMTP_HOST": "localhost"}).smtp.user == "u"


@pytest.mark.parametrize(
    "address",
    ["http://models.example/v1", "http://192.168.1.9:11434/v1", "ftp://localhost/v1", "https://", "models.example"],
)
def test_words_of_shoppers_and_the_key_of_a_language_model_are_not_sent_in_the_open(address: str) -> None:
    with pytest.raises(ConfigurationError, match="AI_BASE_URL must begin with https://"):
        from_environment({"AI_BASE_URL": address, "AI_MODEL": "small"})


@pytest.mark.parametrize("address", ["https://models.example/v1", "http://localhost:11434/v1", "http://[::1]:11434"])
def test_a_language_model_may_be_far_away_by_https_or_on_this_machine(address: str) -> None:
    assert from_environment({"AI_BASE_URL": address, "AI_MODEL": "small"}).ai_base_url == address


def test_how_long_a_shop_may_be_off_before_its_clock_is_in_doubt_is_set_in_days() -> None:
    assert from_environment({}).clock_tolerance == timedelta(days=1)
    assert from_environment({"CLOCK_TOLERANCE_DAYS": "4"}).clock_tolerance == timedelta(days=4)
    with pytest.raises(ConfigurationError, match="CLOCK_TOLERANCE_DAYS"):
        from_environment({"CLOCK_TOLERANCE_DAYS": "a week"})


def test_the_owner_names_the_networks_of_receipt_printers() -> None:
    assert from_environment({}).printer_networks is None
    assert from_environment({"PRINTER_NETWORKS": "none"}).printer_networks == ()
    named = from_environment({"PRINTER_NETWORKS": "192.168.1.0/24, fd00::/8"}).printer_networks
    assert named == (ip_network("192.168.1.0/24"), ip_network("fd00::/8"))
    for wrong in ("192.168.1.1/24", "printer", "192.168.1.0/24,"):
        with pytest.raises(ConfigurationError, match="PRINTER_NETWORKS"):
            from_environment({"PRINTER_NETWORKS": wrong})


S3 = {
    "PICTURES": "s3",
    "S3_BUCKET": "shop-pictures",
    "S3_ACCESS_KEY": "an access key",
    "S3_SECRET_KEY": "a secret of S3",
}


def test_pictures_lie_in_a_bucket_that_is_named() -> None:
    config = from_environment(S3 | {"S3_ENDPOINT": "https://s3.example.com:9000/", "S3_PREFIX": "/shops/first/"})
    assert config.pictures == "s3" and "pictures" not in config.data_folders
    assert config.s3 is not None
    assert (config.s3.bucket, config.s3.endpoint) == ("shop-pictures", "https://s3.example.com:9000")
    assert (config.s3.region, config.s3.prefix) == ("us-east-1", "shops/first")
    assert "secret of S3" not in repr(config) and "an access key" not in repr(config)


def test_a_bucket_may_be_set_up_before_pictures_go_there() -> None:
    config = from_environment(S3 | {"PICTURES": ""})
    assert config.pictures == "files" and config.s3 is not None and "pictures" in config.data_folders
    assert from_environment({}).s3 is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PICTURES", "disk"),
        ("S3_BUCKET", ""),
        ("S3_BUCKET", "Shop Pictures"),
        ("S3_BUCKET", "../other"),
        ("S3_ACCESS_KEY", ""),
        ("S3_SECRET_KEY", " "),
        ("S3_REGION", "eu west"),
        ("S3_ENDPOINT", "s3.example.com"),
        ("S3_ENDPOINT", "https://user:password@s3.example.com"),
        ("S3_ENDPOINT", "https://s3.example.com/bucket"),
        ("S3_PREFIX", "../other"),
        ("S3_PREFIX", "a//b"),
    ],
)
def test_a_wrong_setting_of_the_bucket_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name) as refused:
        from_environment(S3 | {name: value})
    assert "secret of S3" not in str(refused.value)
