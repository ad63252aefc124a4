"""Records for tests, each with what a test does not care about filled in. They flush and never commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from types import MappingProxyType

from app.domain.bundles.models import BundleRun
from app.domain.catalogue.models import Collection, Page, PictureUpload, Product, Variant
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.catalogue.products import FIELDS
from app.domain.merchandising import nodes
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.models import Node
from app.domain.orders.models import Order, OrderLine
from app.domain.pos.models import PosAgent, PosCashMovement, PosLocation, PosRefund, PosSession, PosTransaction
from app.domain.pos.states import PAID_STATUSES
from app.domain.relevance.models import (
    GoldenSearch,
    JudgedSearch,
    JudgementList,
    JudgementRun,
    ProductRating,
    SearchReplay,
    SearchRule,
    Synonym,
)
from app.domain.relevance.synonym_definition import fingerprint
from app.domain.search.models import RebuildRun
from app.domain.search.serving.rules import normalized_term
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search_statistics.models import RankingComparison
from app.domain.seo.models import Redirect
from app.domain.shared.author import Author
from app.domain.sites import accounts, personal_tokens
from app.domain.sites.accounts import Role
from app.domain.sites.models import Domain, Site, User, UserDevice, UserPasskey
from app.domain.sites.personal_tokens import IssuedToken
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db
from tests.fakes.clock import StoppedClock

WHEN = datetime(2026, 11, 1, tzinfo=UTC)
PASSWORD = "seven green kettles"
_numbers = count(1)


def make_site(host: str = "localhost", name: str = "Fern & Fell", **more: object) -> Site:
    fields = {"capabilities": ["TAXONOMY_ENGINE"], "created_at": WHEN} | more
    return _kept(Site(name=name, domains=[Domain(host=host, primary=True)], **fields))


def make_user(
    site: Site, *roles: Role, email: str | None = None, name: str = "Mia Moss", password: str | None = PASSWORD
) -> User:
    address = email or f"user{next(_numbers)}@shop.test"
    user = accounts.create_user(StoppedClock(WHEN), 8, address, name, password)
    for role in roles:
        accounts.grant(user, site.id, role)
    return user


def make_token(site: Site, user: User, name: str = "Agent", days: int = 90) -> IssuedToken:
    return personal_tokens.make_token(Author(site.id, user.display_name, StoppedClock()), user.id, name, days)


def make_device(site: Site, user: User, **more: object) -> UserDevice:
    number = next(_numbers)
    fields = {"id": f"device-{number}", "device_id": f"till-{number}", "name": "Phone"} | more
    times = {"first_seen_at": WHEN, "last_seen_at": WHEN}
    return _kept(UserDevice(site_id=site.id, user_id=user.id, **(times | fields)))


def make_passkey(site: Site, user: User, **more: object) -> UserPasskey:
    number = next(_numbers)
    fields = {"id": f"passkey-{number}", "credential_id": f"credential-{number}", "public_key": b"", "sign_count": 0}
    times = {"created_at": WHEN, "last_used_at": WHEN}
    return _kept(UserPasskey(site_id=site.id, user_id=user.id, **(times | fields | more)))


def make_product(site: Site, sku: str | None = None, **more: object) -> Product:
    sku = sku or f"SKU-{next(_numbers)}"
    fields = {"name": f"Product {sku}", "seo_name": sku.lower(), "price": 1_250} | more
    return _kept(Product(site_id=site.id, sku=sku, created_at=WHEN, updated_at=WHEN, **fields))


def make_page(site: Site, seo_name: str | None = None, **more: object) -> Page:
    seo_name = seo_name or f"page-{next(_numbers)}"
    return _kept(Page(site_id=site.id, seo_name=seo_name, updated_at=WHEN, **({"title": "About us"} | more)))


def make_collection(site: Site, seo_name: str | None = None, **more: object) -> Collection:
    seo_name = seo_name or f"collection-{next(_numbers)}"
    return _kept(Collection(site_id=site.id, seo_name=seo_name, updated_at=WHEN, **({"name": "Gifts"} | more)))


def make_order(site: Site, product: Product | None = None, status: str = "SUBMITTED", **more: object) -> Order:
    """Two pieces of a product, or of something that is not in the catalogue any more."""
    number = next(_numbers)
    fields = {
        "contact_name": "Sam Sedge",
        "contact_email": "sam@home.test",
        "submitted_at": WHEN,
        "total": 2_500,
    } | more
    fields = {"number": number, "id": f"order-{number}", "created_at": WHEN, "updated_at": WHEN} | fields
    line = OrderLine(site_id=site.id, position=0, sku="SKU-9", name="Kettle", quantity=2, unit_price=1_250)
    if product is not None:
        line.product_id, line.sku, line.name = product.id, product.sku, product.name
    return _kept(Order(site_id=site.id, status=status, currency="gbp", lines=[line], **fields))


def make_location(site: Site, location_id: str | None = None, **more: object) -> PosLocation:
    fields = {"display_name": "Market stall", "country": "GB", "created_at": WHEN, "updated_at": WHEN} | more
    return _kept(PosLocation(site_id=site.id, location_id=location_id or f"tml_{next(_numbers)}", **fields))


def make_agent(site: Site, user: User, *locations: PosLocation, **more: object) -> PosAgent:
    fields = {"display_name": user.display_name, "created_at": WHEN, "updated_at": WHEN} | more
    return _kept(PosAgent(site_id=site.id, user_id=user.id, locations=list(locations), **fields))


def make_work_session(agent: PosAgent, **more: object) -> PosSession:
    """Open, on the agent's phone, without an API session."""
    fields = {"id": f"session-{next(_numbers)}", "user_id": agent.user_id, "currency": "gbp", "device_name": "Phone"}
    times = {"started_at": WHEN, "last_seen_at": WHEN, "expires_at": WHEN + timedelta(days=1)}
    return _kept(PosSession(site_id=agent.site_id, agent_id=agent.id, **(times | fields | more)))


def make_transaction(agent: PosAgent, location: PosLocation, status: str = "PENDING", **more: object) -> PosTransaction:
    """A quick payment of 12.50, of which the processor made an intent; a paid one was captured whole."""
    number = next(_numbers)
    fields = {
        "id": f"transaction-{number}",
        "type": "QUICK_PAYMENT",
        "amount_in_pence": 1_250,
        "currency": "gbp",
        "processor": "fake",
        "processor_intent_id": f"pi_{number}",
        "created_at": WHEN,
        "updated_at": WHEN,
    } | more
    if status in PAID_STATUSES:
        fields = {"captured_amount": fields["amount_in_pence"], "captured_at": WHEN} | fields
    return _kept(
        PosTransaction(site_id=agent.site_id, agent_id=agent.id, location_id=location.id, status=status, **fields)
    )


def make_refund(payment: PosTransaction, amount: int, **more: object) -> PosRefund:
    """A refund as the payment was paid, which succeeded."""
    fields = {"id": f"refund-{next(_numbers)}", "reason": "Torn", "status": "SUCCEEDED", "requested_by": "Ada"}
    times = {"created_at": more.pop("at", WHEN), "updated_at": WHEN}
    of = {"site_id": payment.site_id, "transaction_id": payment.id, "tender_type": payment.tender_type}
    return _kept(PosRefund(amount=amount, **(of | times | fields | more)))


def make_movement(session: PosSession, type: str, amount: int, **more: object) -> PosCashMovement:
    """A cash movement of a session, where it was used last."""
    of = {"site_id": session.site_id, "session_id": session.id, "location_id": session.location_id}
    fields = {"id": f"movement-{next(_numbers)}", "reason": "As agreed", "agent_id": session.agent_id}
    return _kept(PosCashMovement(type=type, amount=amount, **(of | {"created_at": WHEN} | fields | more)))


def make_run(site: Site, state: str = "done", **more: object) -> RebuildRun:
    fields = {"scope": "ALL", "requested_by": "Mia Moss", "created_at": WHEN, "done": 0} | more
    return _kept(RebuildRun(id=f"run-{next(_numbers)}", site_id=site.id, state=state, generations={}, **fields))


def make_bundle_run(site: Site, state: str = "done", **more: object) -> BundleRun:
    fields = {"action": "import", "is_dry_run": True, "parts": ["catalogue"], "name": "shop.zip"} | more
    fields = {"requested_by": "Mia Moss", "created_at": WHEN} | fields
    return _kept(BundleRun(id=f"bundle-run-{next(_numbers)}", site_id=site.id, state=state, **fields))


def make_taxonomy(site: Site, levels: list[dict] | None = None, active: bool = False, **more: object) -> Taxonomy:
    """`levels` are in the form in which people send them; they are stored checked."""
    taxonomy_id = more.pop("id", None) or f"taxonomy-{next(_numbers)}"
    checked = check_structure(levels or [])
    assert not checked.problems, checked.problems
    if active:
        change_settings(site.id, {"taxonomy-active-id": taxonomy_id})
    fields = {"name": "Kinds", "catalogue_id": str(site.id), "created_at": WHEN, "updated_at": WHEN} | more
    return _kept(Taxonomy(site_id=site.id, id=taxonomy_id, root_levels=checked.levels, **fields))


def make_task(site: Site, kind: str = "RECOMPUTE", **more: object) -> TaxonomyTask:
    fields = {"state": "done", "requested_by": "Mia Moss", "created_at": WHEN} | more
    return _kept(TaxonomyTask(id=f"task-{next(_numbers)}", site_id=site.id, kind=kind, **fields))


def make_synonym(site: Site, *words: str, root: str | None = None, **more: object) -> Synonym:
    group = SynonymGroup(SynonymType.ONE_WAY if root else SynonymType.EQUIVALENT, root, words or ("mobile", "phone"))
    fields = {"status": "LIVE", "source": "MANUAL", "created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia Moss"}
    stored = {"type": group.type.value, "root": root, "words": list(group.words), "fingerprint": fingerprint(group)}
    return _kept(Synonym(site_id=site.id, **(fields | stored | more)))


def make_redirect(site: Site, old: str = "/p/old", new: str = "/p/new", **more: object) -> Redirect:
    fields = {"reach": "page", "source": "person", "updated_by": "Mia Moss", "updated_at": WHEN} | more
    return _kept(Redirect(site_id=site.id, old_path=old, new_path=new, **fields))


def make_golden(site: Site, sku: str, **more: object) -> GoldenSearch:
    fields = {"query": "mug", "within": 5, "created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia Moss"} | more
    return _kept(GoldenSearch(site_id=site.id, sku=sku, **fields))


def make_comparison(site: Site, **more: object) -> RankingComparison:
    ranking = {"soldOut": "last", "sales": "none", "newness": "high", "stock": "none"}
    baseline = {"soldOut": "as-is", "sales": "none", "newness": "none", "stock": "none"}
    fields = {"proposal": {"kind": "ranking", **ranking}, "baseline": baseline, "share": 100, "started_at": WHEN} | more
    return _kept(RankingComparison(**({"site_id": site.id, "last_day": WHEN.date()} | fields)))


def make_judgement_list(site: Site, **more: object) -> JudgementList:
    fields = {"name": f"List {next(_numbers)}", "updated_by": "tests"} | more
    return _kept(JudgementList(site_id=site.id, created_at=WHEN, updated_at=WHEN, **fields))


def make_judged_search(
    of: JudgementList, query: str, ratings: Mapping[str, int] = MappingProxyType({})
) -> JudgedSearch:
    """With ratings by SKU, as from a file."""
    search = JudgedSearch(site_id=of.site_id, list_id=of.id, query=query, normalized_query=normalized_term(query))
    db.session.add(search)
    db.session.flush()
    for sku, rating in ratings.items():
        db.session.add(
            ProductRating(site_id=of.site_id, search_id=search.id, sku=sku, rating=rating, rated_at=WHEN, rater="")
        )
    db.session.flush()
    return search


def make_judgement_run(of: JudgementList, **more: object) -> JudgementRun:
    fields = {"state": "done", "requested_by": "tests", "created_at": WHEN, "finished_at": WHEN} | more
    return _kept(JudgementRun(id=f"judgement-{next(_numbers)}", site_id=of.site_id, list_id=of.id, **fields))


def make_replay(site: Site, **more: object) -> SearchReplay:
    proposal = {"kind": "synonym", "remove": False, "type": "EQUIVALENT", "synonyms": ["mug", "cup"]}
    fields = {"state": "done", "done": 0, "report": {}, "requested_by": "Mia Moss", "created_at": WHEN} | more
    return _kept(SearchReplay(id=f"replay-{next(_numbers)}", site_id=site.id, **({"proposal": proposal} | fields)))


def make_upload(product: Product, **more: object) -> PictureUpload:
    fields = {"state": "done", "error": "This is no picture.", "requested_by": "Mia Moss", "created_at": WHEN} | more
    names = {"id": f"upload-{next(_numbers)}", "file": "x.upload", "name": "tent.png"}
    return _kept(PictureUpload(site_id=product.site_id, product_id=product.id, **(names | fields)))


def make_rule(site: Site, term: str | None = None, **more: object) -> SearchRule:
    term = term or f"kettle {next(_numbers)}"
    fields = {"redirect_url": "/pages/kettles", "created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia Moss"} | more
    return _kept(SearchRule(site_id=site.id, term=term, normalized_term=normalized_term(term), **fields))


def make_category(author: Author, tree_id: int, name: str, parent_id: int | None = None) -> Node:
    """Add a category, the last one below its parent."""
    return nodes.add_all(author, tree_id, [name], Target(parent_id))[0]


def draft_of(product: Product) -> ProductDraft:
    """Return a product as a form sends it."""
    fields = {name: getattr(product, name) for name in FIELDS}
    variants = tuple(_variant_draft(product, variant) for variant in product.variants)
    return ProductDraft(**fields, variants=variants)


def _variant_draft(product: Product, variant: Variant) -> VariantDraft:
    picture = product.picture_of(variant)
    return VariantDraft(
        variant.sku,
        variant.upc,
        variant.price,
        variant.stock,
        dict(variant.options),
        picture.file if picture else None,
    )


def _kept(record):
    db.session.add(record)
    db.session.flush()
    return record
