"""THE table of personal data: every table of the database with every column that holds text, JSON or bytes. Pure.

To add a table or such a column: say here what it holds. What is `personal` or `secret` is cleared by an entry of
holdings.py; what is `actor` or `text` is searched for names and addresses by traces.py, without a further line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_WORK = "state error"  # Of leased work (app/domain/work/models.py); its errors name no person.
_CONTENT = "seo_name canonical_url"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, each by its name. `personal`: a fact about one person, in a record of their own.
    `secret`: the same, and never exported. `actor`: the name of the user who did something. `text`: typed by people,
    or made of what they typed, so that it may name a person. `none`: nothing about a person."""

    personal: str = ""
    secret: str = ""
    actor: str = ""
    text: str = ""
    none: str = ""

    @property
    def names(self) -> list[str]:
        return " ".join((self.personal, self.secret, self.actor, self.text, self.none)).split()

    @property
    def cleared(self) -> frozenset[str]:
        """The columns that an erasure must clear in the person's own records."""
        return frozenset(f"{self.personal} {self.secret}".split())


def _leased(actor: str = "requested_by", **more: str) -> Columns:
    none = f"{more.pop('none', '')} {_WORK}".strip()
    return Columns(actor=actor, none=none, **more)


COLUMNS: Mapping[str, Columns] = {
    "account_mails": _leased(personal="email", none="id kind"),
    "alert_messages": Columns(none="channel"),
    "alerts": Columns(text="detail", none="cause machine subject"),
    "api_sessions": Columns(
        personal="device_id device_name", secret="refresh_hash", none="id audience ended_because passkey_id"
    ),
    "appearances": Columns(actor="updated_by", text="value previous", none="files"),
    "audit_entries": Columns(actor="actor", text="summary before after", none="action subject_type subject_id origin"),
    "backup_runs": _leased(none="id step file note machine"),
    "bundle_runs": _leased(text="name report", none="id action parts columns follows file step machine"),
    "clock_readings": Columns(),
    "collection_entries": Columns(),
    "collections": Columns(none=f"name description {_CONTENT}"),
    "column_matches": Columns(none="header_digest columns"),
    "counted_batches": Columns(none="id"),
    "crawler_hits": Columns(none="family parameter"),
    "deliveries": Columns(actor="updated_by", text="value previous"),
    "domains": Columns(none="host"),
    "forgotten_searches": Columns(actor="forgotten_by", none="word"),
    "golden_searches": Columns(actor="updated_by", none="query sku"),
    "index_outbox": Columns(none="kind error"),
    "job_failures": Columns(none="job"),
    "job_runs": Columns(none="job errors report"),
    "job_slots": Columns(none="job"),
    "judged_searches": Columns(none="query normalized_query"),
    "judgement_lists": Columns(actor="updated_by", none="name combination candidate"),
    "judgement_runs": _leased(none="id proposal depends_on report"),
    "learned_searches": Columns(none="word learned"),
    "machines": Columns(none="id name release engine database pictures"),
    "merchandising_burials": Columns(),
    "merchandising_nodes": Columns(
        none="name slug path description picture canonical_override meta_title meta_description facets landing_rules "
        "source_levels source_manufacturers"
    ),
    "merchandising_placements": Columns(),
    "merchandising_trees": Columns(none="name facets default_landing_rules"),
    "order_lines": Columns(none="order_id sku name options"),
    "order_mails": _leased(personal="email", none="id order_id kind refund_id"),
    "order_numbers": Columns(),
    "orders": Columns(
        personal="contact_name contact_email contact_phone note delivery_recipient delivery_line1 delivery_line2 "
        "delivery_city delivery_postcode",
        secret="token_hash",
        none="id channel status currency pos_location_id delivery_method delivery_days delivery_payment "
        "payment_instructions "
        "delivery_country",
    ),
    "pages": Columns(none=f"title body meta_description {_CONTENT}"),
    "personal_tokens": Columns(personal="name", secret="token_hash beginning"),
    "picture_uploads": _leased(none="id file name alt machine"),
    "pos_agent_locations": Columns(),
    "pos_agents": Columns(personal="display_name", actor="disabled_by"),
    "pos_cash_movements": Columns(text="reason", none="id session_id type"),
    "pos_idempotency_keys": Columns(secret="key request_hash", none="operation record_id"),
    "pos_journal_entries": Columns(
        none="type at session_id transaction_id order_number tender_type previous_hash hash"
    ),
    "pos_journal_heads": Columns(none="hash"),
    "pos_journal_mails": _leased(personal="email", none="id hash"),
    "pos_ledger_differences": Columns(actor="settled_by", none="account_id intent_id transaction_id kind ours theirs"),
    "pos_locations": Columns(
        none="location_id display_name line1 line2 city state postal_code country processor_account_id printer_address"
    ),
    "pos_payment_checks": _leased(),
    "pos_receipt_mails": _leased(personal="email link", none="id transaction_id"),
    "pos_reconciliations": _leased(none="id"),
    "pos_refunds": Columns(
        personal="reason",
        actor="requested_by",
        none="id transaction_id session_id tender_type status processor_refund_id error",
    ),
    "pos_sessions": Columns(
        personal="device_id device_name user_agent ip closing_note",
        none="id end_reason currency z_report journal_head",
    ),
    "pos_transaction_events": Columns(actor="actor", text="detail", none="transaction_id action status"),
    "pos_transactions": Columns(
        personal="description client_metadata",
        none="id session_id type order_id order_number currency status processor processor_account_id "
        "processor_intent_id processor_charge_id card_brand card_last4 funding read_method wallet emv "
        "last_error_code decline_code anomaly tender_type client_sale_id notes",
    ),
    "processor_events": Columns(
        personal="payload", text="error", none="processor event_id account_id type intent_id outcome"
    ),
    "product_attribute_values": Columns(none="attribute_id value"),
    "product_images": Columns(none="file alt source"),
    "product_ratings": Columns(actor="rater", none="sku"),
    "product_sales": Columns(),
    "products": Columns(
        none=f"sku name manufacturer description upc search_terms taxonomy_level_id taxonomy_attributes "
        f"archived_taxonomy_data {_CONTENT}"
    ),
    "ranking_comparison_days": Columns(),
    "ranking_comparisons": Columns(none="proposal baseline ending"),
    "rebuild_runs": _leased(
        actor="requested_by queued_by", none="id scope queued_scope for_model generations taxonomy_id"
    ),
    "reconcile_reports": Columns(none="examples"),
    "recovery_codes": Columns(secret="code_hash"),
    "redirects": Columns(actor="updated_by", none="old_path new_path new_query reach source"),
    "rejected_suggestions": Columns(none="key digest"),
    "role_grants": Columns(personal="role"),
    "search_days": Columns(),
    "search_product_weeks": Columns(none="word"),
    "search_rephrasing_weeks": Columns(none="word next_word"),
    "search_replays": _leased(none="id proposal report"),
    "search_rules": Columns(
        actor="updated_by",
        text="note",
        none="term normalized_term match other_terms levels categories pins boosts buries boost_groups bury_groups "
        "redirect_url banner_text banner_link_url",
    ),
    "search_suggestion_days": Columns(),
    "search_term_starts": Columns(none="term"),
    "search_windows": Columns(),
    # What looks like an address or a number of a person is never counted (search_statistics/counting/gathering.py).
    "search_word_days": Columns(none="word"),
    "search_word_windows": Columns(none="word"),
    "served_words": Columns(none="synonyms rules learned"),
    "second_factors": Columns(secret="seed"),
    "settings": Columns(none="key value"),
    "sign_in_failures": Columns(personal="key"),
    "sign_in_passkeys": Columns(personal="name", secret="credential_id public_key", none="id host"),
    "sign_in_sessions": Columns(secret="token_hash", none="host"),
    "simulator_events": Columns(text="body"),
    "simulator_intents": Columns(
        text="description metadata", none="id account_id currency status card charge_id error_code decline_code"
    ),
    "simulator_keys": Columns(text="answer", none="account_id key request_hash"),
    "simulator_locations": Columns(none="id account_id display_name address"),
    "simulator_refunds": Columns(text="metadata", none="id account_id intent_id"),
    "site_check_findings": Columns(none="check_id kind url linked_from detail"),
    "site_checks": _leased(none="id counts progress"),
    "sitemap_builds": _leased(none="id warnings machine"),
    "sites": Columns(none="name currency time_zone capabilities"),
    "stored_events": Columns(text="payload error", none="name"),
    "suggestion_runs": _leased(),
    "synonyms": Columns(actor="updated_by", none="type root words status source evidence fingerprint suggested_as"),
    "taxonomies": Columns(none="id catalogue_id name description root_levels"),
    "taxonomy_drafts": Columns(personal="steps", none="taxonomy_id"),
    "taxonomy_revisions": Columns(
        actor="saved_by", text="note", none="taxonomy_id name description root_levels changes renames"
    ),
    "taxonomy_tasks": _leased(none="id kind parameters report"),
    "user_devices": Columns(personal="device_id name", none="id"),
    "user_passkeys": Columns(personal="device_id name", secret="credential_id public_key", none="id"),
    "users": Columns(personal="email display_name", secret="password_hash"),
    "variants": Columns(none="sku upc options picture"),
}


def searched_columns() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield every table in which names or addresses may stand, with its columns of actors and those of texts."""
    for table, columns in COLUMNS.items():
        if columns.actor or columns.text:
            yield table, tuple(columns.actor.split()), tuple(columns.text.split())
