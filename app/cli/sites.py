"""The groups `site`, `user`: sites, people who sign in, and their access tokens."""

from __future__ import annotations

import click
from flask import current_app
from flask.cli import AppGroup

from app.cli.command import chosen_site, command_author, reports_refusals, with_site
from app.domain.shared.clock import local_day
from app.domain.shared.problems import Invalid
from app.domain.sites import accounts, activity, personal_tokens, second_factors, sites
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.domain.sites.personal_tokens import DEFAULT_LIFETIME
from app.ports import clock
from app.transaction import transaction

site_group = AppGroup("site", help="The shops of this installation.")
user_group = AppGroup("user", help="People who sign in.")
with_users_site = click.option("--site", "host", help="Host of the site; may be left out where the user has one only.")
ROLES = click.Choice([role.value for role in Role])


@site_group.command("create")
@click.argument("host")
@click.option("--name", required=True, help="What the shop calls itself.")
@click.option("--currency", default="gbp", show_default=True, help="ISO 4217 code in lower case.")
@click.option("--time-zone", default=sites.TIME_ZONE, show_default=True, help="IANA name, by which days begin.")
@click.option("--staging", is_flag=True, help="Keep search engines out.")
@reports_refusals
def create_site_command(host: str, name: str, currency: str, time_zone: str, staging: bool) -> None:
    """Make a site that answers to HOST."""
    with transaction():
        site = sites.create_site(clock(), host, name, currency, time_zone=time_zone, staging=staging)
    click.echo(f"Created {site.name} at {site.primary_host}")


@site_group.command("list")
@reports_refusals
def list_sites_command() -> None:
    """Every site with its hosts, the primary one first."""
    for site in sites.all_sites():
        others = [domain.host for domain in site.domains if domain.host != site.primary_host]
        click.echo("\t".join([site.primary_host, site.name, *others]))


@user_group.command("create")
@click.argument("email")
@click.option("--role", "roles", type=ROLES, required=True, multiple=True, help="May be given several times.")
@with_site
@click.option("--name", help="How the admin pages call this person; the address where left out.")
@click.option("--password", help="Without one nobody can sign in until set-password.")
@reports_refusals
def create_user_command(
    email: str, roles: tuple[str, ...], host: str | None, name: str | None, password: str | None
) -> None:
    """Make a user with a role on a site; somebody who is known already gets the role there."""
    with transaction():
        site = chosen_site(host)
        user = accounts.find_user(email)
        if user is None:
            user = accounts.create_user(clock(), _memory_kib(), email, name or email, password)
        elif password is not None:
            raise Invalid.one("user_exists", f"There is a user {email} already; change the password by set-password.")
        for role in roles:
            accounts.grant(user, site.id, Role(role))
        summary = f"Gave {user.email} {', '.join(roles)}"
        activity.record(command_author(site.id), "user.create", ("user", str(user.id)), summary)
        granted = f"{user.email} is {', '.join(roles)} of {site.name}"
        can_sign_in = user.password_hash is not None
    click.echo(granted if can_sign_in else f"{granted}; set a password with: user set-password {email}")


@user_group.command("set-password")
@click.argument("email")
@click.option("--password", prompt=True, hide_input=True, confirmation_prompt=True, help="Asked for when left out.")
@reports_refusals
def set_password_command(email: str, password: str) -> None:
    """Give a user a new password; all sessions of the user end."""
    with transaction():
        accounts.set_password(_memory_kib(), accounts.get_user(email), password)
    click.echo(f"{email} has a new password")


@user_group.command("two-step-off")
@click.argument("email")
@with_users_site
@reports_refusals
def two_step_off_command(email: str, host: str | None) -> None:
    """Turn the two-step sign-in of a user off who has neither the phone nor a recovery code. The activity log of the
    site says so, by default that of the first of the user's sites."""
    with transaction():
        user = accounts.get_user(email)
        own = accounts.reachable_sites(user.id)
        site = chosen_site(host or (own[0].host if own else None))
        second_factors.turn_off(command_author(site.id), user)
    click.echo(f"{email} signs in with the password alone")


@user_group.command("token")
@click.argument("email")
@with_users_site
@click.option("--name", required=True, help="What the token is for, such as the program that gets it.")
@click.option("--days", default=DEFAULT_LIFETIME, show_default=True, help="How long it holds, at most a year.")
@reports_refusals
def token_command(email: str, host: str | None, name: str, days: int) -> None:
    """Make an access token, by which a program acts as the user on the site. It is printed once."""
    with transaction():
        user = accounts.get_user(email)
        site = _site_of(user, host)
        issued = personal_tokens.make_token(command_author(site.id), user.id, name, days)
        until = local_day(issued.listed.expires_at, site.time_zone)
        click.echo(f"For {email} on {site.name} until {until}; not shown again:", err=True)
    click.echo(issued.text)


@user_group.command("tokens")
@click.argument("email")
@with_users_site
@reports_refusals
def tokens_command(email: str, host: str | None) -> None:
    """The access tokens of a user for a site: name, beginning, status, end and last use, as days of the site's time
    zone."""
    user = accounts.get_user(email)
    site = _site_of(user, host)
    for token in personal_tokens.tokens_of(clock(), site.id, user.id):
        end = local_day(token.expires_at, site.time_zone)
        used = local_day(token.last_used_at, site.time_zone) if token.last_used_at else "never used"
        click.echo("\t".join([token.name, f"{token.beginning}…", token.status, str(end), str(used)]))


@user_group.command("revoke-token")
@click.argument("email")
@with_users_site
@click.option("--name", required=True, help="As `user tokens` lists it.")
@reports_refusals
def revoke_token_command(email: str, host: str | None, name: str) -> None:
    """Revoke an access token; whatever uses it is out at its next call."""
    with transaction():
        user = accounts.get_user(email)
        author = command_author(_site_of(user, host).id)
        personal_tokens.revoke_token(author, user.id, personal_tokens.active_token(author, user.id, name).id)
    click.echo(f"“{name}” is revoked")


def _site_of(user: User, host: str | None) -> Site:
    """Return the site of a host, or the only one that the user works for. Raises NotFound, Invalid."""
    own = accounts.reachable_sites(user.id)
    return chosen_site(own[0].host or None if host is None and len(own) == 1 else host)


def _memory_kib() -> int:
    memory: int = current_app.config["SHOP"].password_memory_kib
    return memory
