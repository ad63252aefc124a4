"""Two small shops with one record of everything that an address can name, and people of every kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flask import Flask
from flask.testing import FlaskClient

from app.domain.catalogue.models import ProductImage
from app.domain.merchandising.models import Node, Tree
from app.domain.pos.models import LedgerDifference, PosLocation
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site, User
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.architecture.role_matrix import Principal
from tests.factories import (
    PASSWORD,
    WHEN,
    make_agent,
    make_bundle_run,
    make_collection,
    make_comparison,
    make_device,
    make_golden,
    make_judged_search,
    make_judgement_list,
    make_judgement_run,
    make_location,
    make_order,
    make_page,
    make_passkey,
    make_product,
    make_redirect,
    make_replay,
    make_rule,
    make_run,
    make_site,
    make_synonym,
    make_task,
    make_taxonomy,
    make_token,
    make_transaction,
    make_upload,
    make_user,
    make_work_session,
)

AT_TILLS = (Principal.POS_AGENT, Principal.ADMIN, Principal.SUPERADMIN)
ROLES = {
    Principal.WITHOUT_ROLE: (),
    Principal.POS_AGENT: (Role.POS_AGENT,),
    Principal.MERCHANDISER: (Role.MERCHANDISER,),
    Principal.ADMIN: (Role.ADMIN,),
    Principal.SUPERADMIN: (Role.SUPERADMIN,),
}
CONVERTER = re.compile(r"<(?:[^<>:]+:)?(\w+)>")
RECORDS = (
    "product_id",
    "tree_id",
    "node_id",
    "category_id",
    "order_id",
    "basket_id",
    "page_id",
    "collection_id",
    "run_id",
    "bundle_run_id",
    "table_run_id",
    "user_id",
    "device_id",
    "passkey_id",
    "token_id",
    "taxonomy_id",
    "task_id",
    "replay_id",
    "upload_id",
    "golden_id",
    "comparison_id",
    "judgement_list_id",
    "judged_search_id",
    "judgement_run_id",
    "synonym_id",
    "redirect_id",
    "rule_id",
    "entry_id",
    "agent_id",
    "location_id",
    "session_id",
    "payment_intent_id",
    "transaction_id",
    "difference_id",
)
COMMON = {
    "digest": "0",
    "filename": "admin/base.css",
    "file": "x.webp",
    "list_name": "top",
    "words_table": "terms",
    "line_id": "1",
    "mail_kind": "ready",
    "path": "home",
    "screen": "order",
    "permit": "nothing",
    "reader_id": "tmr_nothing",
    "revision": "1",
    "seo_name": "nothing",
    "shape": "wide",
    "sku_code": "nothing",
    "token": "nothing",
    "version": "0",
    "name": "x",
    "number": "1",
}


@dataclass
class Shops:
    """Ids by the name of the parameter, for the shop of the users and for the other one."""

    own: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)


def plain(rule: str) -> str:
    """`/p/<int(max=9):id>` as `/p/<id>`."""
    return CONVERTER.sub(r"<\1>", rule)


def routes(app: Flask) -> list[tuple[str, str]]:
    """Every (method, rule); those that delete come late and signing out last, so that they spoil nothing."""
    pairs = {(method, plain(rule.rule)) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    found = [pair for pair in pairs if pair[0] not in ("HEAD", "OPTIONS")]
    return sorted(found, key=_spoils)


def _spoils(pair: tuple[str, str]) -> tuple[bool, bool, str, str]:
    method, rule = pair
    return "logout" in rule, method == "DELETE" or "/delete" in rule or "/removal" in rule, rule, method


def address(rule: str, ids: dict[str, str]) -> str:
    known = COMMON | ids
    return re.sub(r"<(\w+)>", lambda name: known[name[1]], rule)


def names_a_record(rule: str) -> bool:
    return any(f"<{name}>" in rule for name in RECORDS)


def build_shops() -> Shops:
    with transaction():
        sites = make_site("localhost", "Own"), make_site("other.localhost", "Other")
        users = {
            principal: make_user(sites[0], *roles, email=email_of(principal)) for principal, roles in ROLES.items()
        }
        shops = Shops(*(_records(site) for site in sites))
        _set_up_agents(sites[0], [users[principal] for principal in AT_TILLS])
        return shops


def _set_up_agents(site: Site, users: list[User]) -> None:
    """Whoever may work at a till is an agent who may do everything everywhere."""
    change_settings(site.id, {"posEnabled": True})
    locations = db.session.query(PosLocation).filter_by(site_id=site.id).all()
    for user in users:
        make_agent(site, user, *locations, can_refund=True, can_discount=True)


def email_of(principal: Principal) -> str:
    return f"{principal.name.lower()}@shop.test"


def client_of(app: Flask, principal: Principal) -> FlaskClient:
    """Signed in, but for anybody. Needs the CSRF check to be off."""
    client = app.test_client()
    if principal is not Principal.ANYBODY:
        answer = client.post("/admin/login", data={"email": email_of(principal), "password": PASSWORD})
        assert answer.status_code == 302
    return client


WITHOUT_TOKEN = (Principal.ANYBODY, Principal.WITHOUT_ROLE)


def bearer_of(app: Flask, principal: Principal) -> dict[str, str]:
    """The header by which a program of theirs calls /v1; none for anybody and for who has no role, who get none."""
    if principal in WITHOUT_TOKEN:
        return {}
    answer = app.test_client().post("/v1/auth/login", json={"email": email_of(principal), "password": PASSWORD})
    return {"Authorization": f"Bearer {answer.json['token']}"}


def kept_node(tree: Tree) -> Node:
    node = Node(site_id=tree.site_id, tree_id=tree.id, name="All", slug="all", path="all", updated_at=WHEN)
    db.session.add(node)
    db.session.flush()
    return node


def _records(site: Site) -> dict[str, str]:
    product = make_product(site)
    location = make_location(site)
    agent = make_agent(site, make_user(site, Role.POS_AGENT), location)
    transaction_of_agent = make_transaction(agent, location, "SUCCEEDED")
    image = ProductImage(product_id=product.id, site_id=site.id, file="x.webp", width=1, height=1, alt="", position=0)
    member = make_user(site, Role.MERCHANDISER)
    tree = Tree(site_id=site.id, name="Shop", primary=True, updated_at=WHEN)
    db.session.add_all([image, tree])
    db.session.flush()
    node = kept_node(tree)
    judgements = make_judgement_list(site)
    return {
        "site_id": str(site.id),
        "product_id": str(product.id),
        "order_id": make_order(site, product).id,
        "basket_id": make_order(site, product, "OPEN", channel="POS").id,
        "image_id": str(image.id),
        "upload_id": make_upload(product).id,
        "tree_id": str(tree.id),
        "node_id": str(node.id),
        "category_id": str(node.id),
        "page_id": str(make_page(site).id),
        "collection_id": str(make_collection(site).id),
        "run_id": make_run(site).id,
        "bundle_run_id": make_bundle_run(site).id,
        "table_run_id": make_bundle_run(site, columns=["sku", "name", "price"]).id,
        "rule_id": str(make_rule(site).id),
        "taxonomy_id": make_taxonomy(site, id=f"kinds-{site.id}").id,
        "task_id": make_task(site).id,
        "replay_id": make_replay(site).id,
        "golden_id": str(make_golden(site, product.sku).id),
        "comparison_id": str(make_comparison(site).id),
        "judgement_list_id": str(judgements.id),
        "judged_search_id": str(make_judged_search(judgements, "mug", {product.sku: 3}).id),
        "judgement_run_id": make_judgement_run(judgements).id,
        "entry_id": str(_change_of_search(site)),
        "synonym_id": str(make_synonym(site).id),
        "redirect_id": str(make_redirect(site).id),
        "user_id": str(member.id),
        "device_id": make_device(site, member).id,
        "passkey_id": make_passkey(site, member).id,
        "token_id": str(make_token(site, member).listed.id),
        "agent_id": str(agent.id),
        "location_id": location.location_id,
        "session_id": make_work_session(agent).id,
        "transaction_id": transaction_of_agent.id,
        "difference_id": str(_difference(site)),
        "payment_intent_id": transaction_of_agent.processor_intent_id or "",
    }


def _difference(site: Site) -> int:
    """Between the shop's books and the processor's."""
    found = LedgerDifference(
        site_id=site.id,
        intent_id="pi_other",
        kind="missing_row",
        ours="",
        theirs="12.50",
        day=WHEN.date(),
        found_at=WHEN,
    )
    db.session.add(found)
    db.session.flush()
    return found.id


def _change_of_search(site: Site) -> int:
    """An entry of the activity log that can be undone."""
    product = make_product(site, search_terms=["pot"])
    before, after = {"search_terms": []}, {"search_terms": ["pot"]}
    entry = AuditEntry(
        site_id=site.id, at=WHEN, actor="Mia Moss", action="product.save", subject_type="product",
        subject_id=str(product.id), summary="Changed it", before=before, after=after,
    )  # fmt: skip
    db.session.add(entry)
    db.session.flush()
    return entry.id
