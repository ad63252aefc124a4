"""`flask alerts list` and `flask alerts test`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from flask import Flask

from app.adapters.mail import MailChannel
from app.adapters.webhook import WebhookChannel
from app.config import SmtpServer
from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.messages import AlertChannel
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import make_site
from tests.fakes.chat import chat_server
from tests.fakes.clock import StoppedClock
from tests.fakes.smtp import mail_server


def set_up(app: Flask, *channels: AlertChannel) -> None:
    app.extensions[EXTENSION] = dataclasses.replace(app.extensions[EXTENSION], alert_channels=channels)


def test_without_a_channel_it_says_what_to_set(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["alerts", "test"])
    assert result.exit_code == 1 and "ALERT_EMAIL or ALERT_WEBHOOK_URL" in result.output


def test_a_trial_goes_out_by_every_channel_and_says_that_it_is_one(app: Flask) -> None:
    with mail_server() as mails, chat_server() as hooks:
        hooks.fails(200)
        mail = MailChannel(SmtpServer("127.0.0.1", mails.port, security="none"), "a@shop.test", ("a@shop.test",))
        set_up(app, mail, WebhookChannel(hooks.base_url, ""))
        result = app.test_cli_runner().invoke(args=["alerts", "test"])
    assert (result.exit_code, result.output) == (0, "mail: sent\nwebhook: sent\n")
    assert mails.mails[0]["Subject"].startswith("Test: ") and "What to do" not in mails.mails[0].get_content()
    assert hooks.requests[0]["event"] == "alert_test"


def test_a_trial_that_arrives_ends_the_alert_about_the_channel(app: Flask, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        raise_alert(clock, Cause.DELIVERY_FAILED, "refused", subject="webhook")
    with chat_server() as hooks:
        hooks.fails(200)
        set_up(app, WebhookChannel(hooks.base_url, ""))
        app.test_cli_runner().invoke(args=["alerts", "test"])
    assert app.test_cli_runner().invoke(args=["alerts", "list"]).output == "There are no alerts.\n"


def test_a_channel_that_refuses_is_named_and_the_others_are_tried(app: Flask) -> None:
    with mail_server() as mails, chat_server() as hooks:
        hooks.fails(500)
        mail = MailChannel(SmtpServer("127.0.0.1", mails.port, security="none"), "a@shop.test", ("a@shop.test",))
        set_up(app, WebhookChannel(hooks.base_url, ""), mail)
        result = app.test_cli_runner().invoke(args=["alerts", "test"])
    assert result.exit_code == 1
    assert "webhook: The webhook at 127.0.0.1 answered with status 500." in result.output
    assert "mail: sent" in result.output


@pytest.mark.usefixtures("app")
def test_open_alerts_are_listed_and_make_the_exit_status_1(app: Flask, clock: StoppedClock) -> None:
    runner = app.test_cli_runner()
    assert runner.invoke(args=["alerts", "list"]).output == "There are no alerts.\n"
    with app.app_context(), transaction():
        site_id = make_site("fern.test").id
        raise_alert(clock, Cause.INDEX_DAMAGED, "It is cut.", site_id, "products")
        raise_alert(clock, Cause.DISK_FULL, "12 MB left.")
    result = runner.invoke(args=["alerts", "list"])
    assert (result.exit_code, result.output.splitlines()) == (
        1,
        [
            "2026-11-20T12:00:00Z\tmachine\tdisk_full\t\t12 MB left.",
            "2026-11-20T12:00:00Z\tfern.test\tindex_damaged\tproducts\tIt is cut.",
        ],
    )


def test_a_backup_goes_where_the_alert_looks_for_it(app: Flask, tmp_path: Path) -> None:
    assert "or set BACKUP_DIR" in app.test_cli_runner().invoke(args=["backup"]).output
    folder = tmp_path / "missing" / "backups"
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], backup_dir=folder)
    result = app.test_cli_runner().invoke(args=["backup"])
    assert result.exit_code == 1 and f"There is no folder {folder.parent}" in result.output
