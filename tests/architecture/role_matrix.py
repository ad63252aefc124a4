"""Who may call which route: one row for each, written by hand. A route without a row fails the build."""

from __future__ import annotations

from enum import StrEnum


class Principal(StrEnum):
    ANYBODY = "anybody"
    WITHOUT_ROLE = "a user without role"
    POS_AGENT = "a POS agent"
    MERCHANDISER = "a merchandiser"
    ADMIN = "an admin"
    SUPERADMIN = "a superadmin"


EVERYBODY = frozenset(Principal)
STAFF = frozenset((Principal.MERCHANDISER, Principal.ADMIN, Principal.SUPERADMIN))
ADMINS = frozenset((Principal.ADMIN, Principal.SUPERADMIN))
SUPERADMINS = frozenset((Principal.SUPERADMIN,))
AT_TILLS = ADMINS | {Principal.POS_AGENT}

Rows = dict[tuple[str, str], frozenset[Principal]]

OPEN: Rows = {
    ("GET", "/"): EVERYBODY,
    ("GET", "/c/<path>"): EVERYBODY,
    ("GET", "/collections/<seo_name>"): EVERYBODY,
    ("GET", "/p/<seo_name>"): EVERYBODY,
    ("GET", "/pages/<seo_name>"): EVERYBODY,
    ("GET", "/search"): EVERYBODY,
    ("GET", "/search/suggest"): EVERYBODY,
    ("GET", "/recently-viewed"): EVERYBODY,
    ("GET", "/robots.txt"): EVERYBODY,
    ("GET", "/sitemap.xml"): EVERYBODY,
    ("GET", "/sitemap-<number>.xml"): EVERYBODY,
    ("GET", "/basket"): EVERYBODY,
    ("POST", "/basket"): EVERYBODY,
    ("POST", "/basket/lines/<line_id>"): EVERYBODY,
    ("GET", "/checkout"): EVERYBODY,
    ("POST", "/checkout"): EVERYBODY,
    ("GET", "/order/<token>"): EVERYBODY,
    ("GET", "/orders/<token>/collect.ics"): EVERYBODY,
    ("GET", "/orders/find"): EVERYBODY,
    ("POST", "/orders/find"): EVERYBODY,
    ("GET", "/r/<token>"): EVERYBODY,
    ("GET", "/picture/<shape>/<name>.png"): EVERYBODY,
    ("GET", "/picture/<shape>/<name>.svg"): EVERYBODY,
    ("GET", "/media/<site_id>/<file>"): EVERYBODY,
    ("GET", "/static/<filename>"): EVERYBODY,
    ("GET", "/static/v-<version>/<filename>"): EVERYBODY,
    ("GET", "/static/shop-<digest>.js"): EVERYBODY,
    ("GET", "/static/look/<name>.css"): EVERYBODY,
    ("GET", "/static/themes/<name>/shop-<digest>.css"): EVERYBODY,
    ("GET", "/static/themes/<name>/files/<filename>"): EVERYBODY,
    ("GET", "/till"): EVERYBODY,
    ("GET", "/till/<screen>"): EVERYBODY,
    ("GET", "/till/display"): EVERYBODY,
    ("GET", "/till/manifest.webmanifest"): EVERYBODY,
    ("GET", "/till/sw.js"): EVERYBODY,
    ("GET", "/theme-preview"): EVERYBODY,
    ("POST", "/theme-preview/end"): EVERYBODY,
    ("GET", "/healthz"): EVERYBODY,
    ("GET", "/readyz"): EVERYBODY,
    ("GET", "/metrics"): EVERYBODY,
    ("GET", "/admin/login"): EVERYBODY,
    ("POST", "/admin/login"): EVERYBODY,
    ("GET", "/admin/login/code"): EVERYBODY,
    ("POST", "/admin/login/code"): EVERYBODY,
    ("GET", "/admin/login/passkey"): EVERYBODY,
    ("POST", "/admin/login/passkey"): EVERYBODY,
    ("GET", "/admin/forgotten"): EVERYBODY,
    ("POST", "/admin/forgotten"): EVERYBODY,
    ("GET", "/admin/invitation/<token>"): EVERYBODY,
    ("POST", "/admin/invitation/<token>"): EVERYBODY,
    ("GET", "/admin/new-password/<token>"): EVERYBODY,
    ("POST", "/admin/new-password/<token>"): EVERYBODY,
    ("POST", "/admin/logout"): EVERYBODY,
}

SHELL: Rows = {
    ("GET", "/admin/"): STAFF,
    ("GET", "/admin/rest/alerts"): STAFF,
    ("POST", "/admin/site"): STAFF,
    ("GET", "/admin/find"): STAFF,
    ("GET", "/admin/keys"): STAFF,
    ("GET", "/admin/help"): STAFF,
    ("GET", "/admin/help/<name>"): STAFF,
    ("GET", "/admin/help/task/<name>"): STAFF,
    ("GET", "/admin/password"): STAFF,
    ("POST", "/admin/password"): STAFF,
    ("GET", "/admin/two-step"): STAFF,
    ("POST", "/admin/two-step"): STAFF,
    ("POST", "/admin/two-step/codes"): STAFF,
    ("POST", "/admin/two-step/off"): STAFF,
    ("GET", "/admin/passkeys"): STAFF,
    ("POST", "/admin/passkeys"): STAFF,
    ("POST", "/admin/passkeys/register"): STAFF,
    ("POST", "/admin/passkeys/<passkey_id>/remove"): STAFF,
    ("GET", "/admin/tokens"): STAFF,
    ("POST", "/admin/tokens"): STAFF,
    ("POST", "/admin/tokens/<token_id>/revoke"): STAFF,
}

MERCHANDISING: Rows = {
    ("GET", "/admin/merchandising"): STAFF,
    ("GET", "/admin/merchandising/new"): STAFF,
    ("POST", "/admin/merchandising/new"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>/name"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/name"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>/primary"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/primary"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>/removal"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/removal"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>/filters"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/filters"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/categories"): STAFF,
    ("GET", "/admin/merchandising/<tree_id>/landing"): STAFF,
    ("POST", "/admin/merchandising/<tree_id>/landing"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>/landing"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/landing"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>/landing/pages"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>/landing/twins"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/parts"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/preview"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/picture"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/picture/remove"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/name"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/visibility"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>/move"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/move"): STAFF,
    ("GET", "/admin/merchandising/category/<category_id>/removal"): STAFF,
    ("POST", "/admin/merchandising/category/<category_id>/removal"): STAFF,
}

SEARCH: Rows = {
    ("GET", "/admin/search"): STAFF,
    ("GET", "/admin/search/run"): STAFF,
    ("GET", "/admin/search/rebuilds"): STAFF,
    ("POST", "/admin/search/rebuild"): STAFF,
    ("GET", "/admin/search/rest/status"): STAFF,
    ("POST", "/admin/search/rest/reindex"): STAFF,
    ("GET", "/admin/search/rest/reindex/<run_id>"): STAFF,
    ("POST", "/admin/merchandising/rest/reindex"): STAFF,
    ("GET", "/admin/search/products"): STAFF,
    ("GET", "/admin/search/synonyms/suggest"): STAFF,
    ("POST", "/admin/search/synonyms/suggest"): STAFF,
    ("GET", "/admin/search/activity"): STAFF,
    ("GET", "/admin/search/effect/synonym/<synonym_id>"): STAFF,
    ("GET", "/admin/search/effect/rule/<rule_id>"): STAFF,
    ("GET", "/admin/search/effect/terms/<product_id>"): STAFF,
    ("GET", "/admin/search/effect/learning"): STAFF,
    ("GET", "/admin/search/learning"): STAFF,
    ("POST", "/admin/search/learning/learn"): STAFF,
    ("POST", "/admin/search/learning/forget"): STAFF,
    ("POST", "/admin/search/learning/restore"): STAFF,
    ("GET", "/admin/search/activity/<entry_id>"): STAFF,
    ("POST", "/admin/search/activity/<entry_id>/undo"): STAFF,
    ("GET", "/admin/search/ranking"): STAFF,
    ("GET", "/admin/search/ranking/new"): STAFF,
    ("POST", "/admin/search/ranking/new"): STAFF,
    ("GET", "/admin/search/ranking/<rule_id>"): STAFF,
    ("POST", "/admin/search/ranking/<rule_id>"): STAFF,
    ("POST", "/admin/search/ranking/<rule_id>/pause"): STAFF,
    ("POST", "/admin/search/ranking/<rule_id>/resume"): STAFF,
    ("POST", "/admin/search/ranking/<rule_id>/delete"): STAFF,
    ("POST", "/admin/search/ranking/resync"): STAFF,
    ("GET", "/admin/search/ranking/settings"): STAFF,
    ("POST", "/admin/search/ranking/settings"): STAFF,
    ("PUT", "/admin/search/ranking/settings"): STAFF,
    ("POST", "/admin/search/ranking/rest"): STAFF,
    ("GET", "/admin/search/ranking/rest/<rule_id>"): STAFF,
    ("PUT", "/admin/search/ranking/rest/<rule_id>"): STAFF,
    ("DELETE", "/admin/search/ranking/rest/<rule_id>"): STAFF,
    ("GET", "/admin/settings/search"): STAFF,
    ("POST", "/admin/settings/search"): STAFF,
    ("GET", "/admin/search/analytics"): STAFF,
    ("GET", "/admin/search/analytics/days.csv"): STAFF,
    ("GET", "/admin/search/analytics/<list_name>"): STAFF,
    ("GET", "/admin/search/analytics/<list_name>.csv"): STAFF,
    ("GET", "/admin/search/<words_table>/export.csv"): STAFF,
    ("GET", "/admin/search/<words_table>/import"): STAFF,
    ("POST", "/admin/search/<words_table>/import"): STAFF,
    ("POST", "/admin/search/<words_table>/import/apply"): STAFF,
}

SYNONYMS = "/admin/search/synonyms"
SYNONYM_ROWS: Rows = {
    ("GET", SYNONYMS): STAFF,
    ("POST", SYNONYMS): STAFF,
    ("GET", f"{SYNONYMS}/new"): STAFF,
    ("POST", f"{SYNONYMS}/reject"): STAFF,
    ("POST", f"{SYNONYMS}/resync"): STAFF,
    ("GET", f"{SYNONYMS}/<synonym_id>"): STAFF,
    ("POST", f"{SYNONYMS}/<synonym_id>"): STAFF,
    ("POST", f"{SYNONYMS}/<synonym_id>/accept"): STAFF,
    ("POST", f"{SYNONYMS}/<synonym_id>/reject"): STAFF,
    ("GET", f"{SYNONYMS}/<synonym_id>/delete"): STAFF,
    ("POST", f"{SYNONYMS}/<synonym_id>/delete"): STAFF,
    ("POST", f"{SYNONYMS}/rest"): STAFF,
    ("GET", f"{SYNONYMS}/rest/<synonym_id>"): STAFF,
    ("PUT", f"{SYNONYMS}/rest/<synonym_id>"): STAFF,
    ("DELETE", f"{SYNONYMS}/rest/<synonym_id>"): STAFF,
    ("POST", f"{SYNONYMS}/rest/<synonym_id>/accept"): STAFF,
    ("POST", f"{SYNONYMS}/rest/<synonym_id>/reject"): STAFF,
}

PREVIEWS: Rows = {
    ("POST", "/admin/search/try"): STAFF,
    ("POST", "/admin/search/replays"): STAFF,
    ("GET", "/admin/search/replays/<replay_id>"): STAFF,
    ("GET", "/admin/search/comparisons"): STAFF,
    ("POST", "/admin/search/comparisons"): STAFF,
    ("POST", "/admin/search/comparisons/<comparison_id>/stop"): STAFF,
    ("GET", "/admin/search/golden"): STAFF,
    ("POST", "/admin/search/golden"): STAFF,
    ("POST", "/admin/search/golden/check"): STAFF,
    ("POST", "/admin/search/golden/<golden_id>"): STAFF,
    ("POST", "/admin/search/golden/<golden_id>/delete"): STAFF,
    ("GET", "/admin/search/judgements"): STAFF,
    ("POST", "/admin/search/judgements"): STAFF,
    ("GET", "/admin/search/judgements/<judgement_list_id>"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/delete"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/candidate"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/runs"): STAFF,
    ("GET", "/admin/search/judgements/<judgement_list_id>/runs/<judgement_run_id>"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/searches"): STAFF,
    ("GET", "/admin/search/judgements/<judgement_list_id>/searches/<judged_search_id>"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/searches/<judged_search_id>"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/searches/<judged_search_id>/delete"): STAFF,
    ("GET", "/admin/search/judgements/<judgement_list_id>/export.csv"): STAFF,
    ("GET", "/admin/search/judgements/<judgement_list_id>/import"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/import"): STAFF,
    ("POST", "/admin/search/judgements/<judgement_list_id>/import/apply"): STAFF,
}

TERMS = "/admin/search/terms"
TERMS_AND_TESTS: Rows = {
    ("GET", TERMS): STAFF,
    ("POST", TERMS): STAFF,
    ("POST", f"{TERMS}/try"): STAFF,
    ("GET", f"{TERMS}/<product_id>"): STAFF,
    ("POST", f"{TERMS}/<product_id>"): STAFF,
    ("GET", f"{TERMS}/rest/products"): STAFF,
    ("PUT", f"{TERMS}/rest/<product_id>"): STAFF,
    ("POST", f"{TERMS}/rest/<product_id>/add"): STAFF,
    ("GET", "/admin/search/test"): STAFF,
    ("POST", "/admin/search/test"): STAFF,
}

STAFF_OF_SHOP: Rows = {
    ("GET", "/admin/users"): ADMINS,
    ("GET", "/admin/user/new"): ADMINS,
    ("POST", "/admin/user/new"): ADMINS,
    ("GET", "/admin/user/invite"): ADMINS,
    ("POST", "/admin/user/invite"): ADMINS,
    ("POST", "/admin/user/<user_id>/invitation"): ADMINS,
    ("POST", "/admin/user/<user_id>/invitation/revoke"): ADMINS,
    ("GET", "/admin/user/<user_id>"): ADMINS,
    ("POST", "/admin/user/<user_id>"): ADMINS,
    ("POST", "/admin/user/<user_id>/password"): ADMINS,
    ("POST", "/admin/user/<user_id>/two-step/off"): ADMINS,
    ("POST", "/admin/user/<user_id>/devices/<device_id>/remove"): ADMINS,
    ("POST", "/admin/user/<user_id>/tokens/<token_id>/revoke"): ADMINS,
    ("GET", "/admin/activity"): ADMINS,
    ("GET", "/admin/activity.csv"): ADMINS,
    ("GET", "/admin/activity/<entry_id>"): ADMINS,
    ("POST", "/admin/activity/<entry_id>/undo"): STAFF,  # And of these, those who may make the change.
    ("GET", "/admin/settings/system"): ADMINS,
    ("POST", "/admin/settings/system/run"): ADMINS,
    ("GET", "/admin/personal-data"): ADMINS,
    ("POST", "/admin/personal-data"): ADMINS,
    ("POST", "/admin/personal-data/export"): ADMINS,
    ("POST", "/admin/personal-data/erase"): ADMINS,
    ("GET", "/admin/settings/sites"): SUPERADMINS,
    ("POST", "/admin/settings/sites"): SUPERADMINS,
    ("POST", "/admin/settings/sites/copy"): SUPERADMINS,
    ("GET", "/admin/settings/backups"): SUPERADMINS,
    ("POST", "/admin/settings/backups"): SUPERADMINS,
    ("GET", "/admin/settings/backups/<name>/download"): SUPERADMINS,
    ("POST", "/admin/settings/backups/<name>/download"): SUPERADMINS,
    ("GET", "/admin/settings/backups/<name>/delete"): SUPERADMINS,
    ("POST", "/admin/settings/backups/<name>/delete"): SUPERADMINS,
    ("GET", "/admin/settings/import-export"): ADMINS,
    ("POST", "/admin/settings/import-export/export"): ADMINS,
    ("POST", "/admin/settings/import-export/transfer"): ADMINS,
    ("POST", "/admin/settings/import-export/upload/<permit>"): ADMINS,
    ("GET", "/admin/settings/import-export/upload/<permit>"): ADMINS,
    ("GET", "/admin/settings/import-export/<bundle_run_id>"): ADMINS,
    ("GET", "/admin/settings/import-export/<bundle_run_id>/report.csv"): ADMINS,
    ("GET", "/admin/settings/import-export/<bundle_run_id>/report.json"): ADMINS,
    ("GET", "/admin/settings/import-export/<bundle_run_id>/shop.zip"): ADMINS,
    ("POST", "/admin/settings/import-export/<bundle_run_id>/cancel"): ADMINS,
    ("POST", "/admin/settings/import-export/<bundle_run_id>/confirm"): ADMINS,
    ("GET", "/admin/settings"): ADMINS,
    ("POST", "/admin/settings"): ADMINS,
    ("GET", "/admin/settings/emails"): ADMINS,
    ("POST", "/admin/settings/emails"): ADMINS,
    ("GET", "/admin/settings/emails/<mail_kind>/preview"): ADMINS,
    ("POST", "/admin/settings/emails/<mail_kind>/test"): ADMINS,
    ("GET", "/admin/seo/settings"): ADMINS,
    ("POST", "/admin/seo/settings"): ADMINS,
    ("GET", "/admin/settings/delivery"): ADMINS,
    ("POST", "/admin/settings/delivery"): ADMINS,
    ("POST", "/admin/settings/delivery/arrange"): ADMINS,
    ("POST", "/admin/settings/delivery/undo"): ADMINS,
    ("GET", "/admin/settings/appearance"): ADMINS,
    ("POST", "/admin/settings/appearance"): ADMINS,
    ("POST", "/admin/settings/appearance/arrange"): ADMINS,
    ("POST", "/admin/settings/appearance/preview"): ADMINS,
    ("GET", "/admin/settings/appearance/contrast"): ADMINS,
    ("POST", "/admin/settings/appearance/undo"): ADMINS,
    ("GET", "/admin/settings/themes/<name>/home"): ADMINS,
    ("GET", "/admin/settings/themes/<name>/preview"): ADMINS,
}

PRODUCT = "/admin/catalogue/product/<product_id>"
CATALOGUE: Rows = {
    ("GET", "/admin/catalogue/products.csv"): STAFF,
    ("GET", "/admin/catalogue/products/import"): STAFF,
    ("POST", "/admin/catalogue/products/import/upload/<permit>"): STAFF,
    ("GET", "/admin/catalogue/products/import/upload/<permit>"): STAFF,
    ("GET", "/admin/catalogue/products/import/columns/<token>"): STAFF,
    ("POST", "/admin/catalogue/products/import/columns/<token>"): STAFF,
    ("GET", "/admin/catalogue/products/import/<table_run_id>"): STAFF,
    ("POST", "/admin/catalogue/products/import/<table_run_id>/confirm"): STAFF,
    ("POST", "/admin/catalogue/products/import/<table_run_id>/cancel"): STAFF,
    ("GET", "/admin/catalogue/products/import/<table_run_id>/corrections.csv"): STAFF,
    ("GET", "/admin/catalogue/products"): STAFF,
    ("GET", "/admin/catalogue/products/lookup"): STAFF,
    ("GET", "/admin/catalogue/products/manufacturers"): STAFF,
    ("POST", "/admin/catalogue/products/shown"): STAFF,
    ("POST", "/admin/catalogue/products/choose"): STAFF,
    ("GET", "/admin/catalogue/products/classify"): STAFF,
    ("POST", "/admin/catalogue/products/classify"): STAFF,
    ("GET", "/admin/catalogue/product/new"): STAFF,
    ("GET", "/admin/catalogue/product/taxonomy/fields"): STAFF,
    ("POST", "/admin/catalogue/product/taxonomy/fields"): STAFF,
    ("GET", "/admin/catalogue/product/taxonomy/levels"): STAFF,
    ("GET", "/admin/catalogue/taxonomy/worklist"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/worklist/<product_id>"): STAFF,
    ("POST", "/admin/catalogue/product/new"): STAFF,
    ("GET", PRODUCT): STAFF,
    ("POST", PRODUCT): STAFF,
    ("POST", f"{PRODUCT}/delete"): STAFF,
    ("POST", f"{PRODUCT}/categories"): STAFF,
    ("POST", f"{PRODUCT}/categories/<node_id>/remove"): STAFF,
    ("POST", f"{PRODUCT}/images"): STAFF,
    ("GET", f"{PRODUCT}/images/uploads"): STAFF,
    ("POST", f"{PRODUCT}/images/uploads/<upload_id>/dismiss"): STAFF,
    ("POST", f"{PRODUCT}/images/<image_id>/describe"): STAFF,
    ("POST", f"{PRODUCT}/images/<image_id>/move"): STAFF,
    ("POST", f"{PRODUCT}/images/<image_id>/remove"): STAFF,
    ("GET", "/admin/catalogue/collections"): STAFF,
    ("GET", "/admin/catalogue/collection/new"): STAFF,
    ("POST", "/admin/catalogue/collection/new"): STAFF,
    ("GET", "/admin/catalogue/collection/<collection_id>"): STAFF,
    ("POST", "/admin/catalogue/collection/<collection_id>"): STAFF,
    ("POST", "/admin/catalogue/collection/<collection_id>/delete"): STAFF,
}

TAXONOMY = "/admin/catalogue/taxonomy/<taxonomy_id>"
TAXONOMY_JSON: Rows = {
    ("GET", f"{TAXONOMY}/data"): STAFF,
    ("PUT", f"{TAXONOMY}/structure"): STAFF,
    ("POST", f"{TAXONOMY}/impact"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/create"): STAFF,
    ("POST", f"{TAXONOMY}/duplicate"): STAFF,
    ("DELETE", TAXONOMY): ADMINS,
    ("GET", f"{TAXONOMY}/activation-impact"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/activate/<taxonomy_id>"): ADMINS,
}
TAXONOMY_LOG: Rows = {
    ("GET", f"{TAXONOMY}/revisions"): STAFF,
    ("GET", f"{TAXONOMY}/revisions/compare"): STAFF,
    ("GET", f"{TAXONOMY}/revisions/<revision>/back"): STAFF,
    ("POST", f"{TAXONOMY}/revisions/<revision>/back"): STAFF,
}

TAXONOMY_PAGES: Rows = {
    ("GET", "/admin/catalogue/taxonomy"): STAFF,
    ("GET", "/admin/catalogue/taxonomy/new"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/new"): STAFF,
    ("GET", f"{TAXONOMY}/copy"): STAFF,
    ("POST", f"{TAXONOMY}/copy"): STAFF,
    ("GET", f"{TAXONOMY}/removal"): ADMINS,
    ("POST", f"{TAXONOMY}/removal"): ADMINS,
    ("GET", f"{TAXONOMY}/activation"): ADMINS,
    ("POST", f"{TAXONOMY}/activation"): ADMINS,
    ("GET", "/admin/catalogue/taxonomy/tasks/<task_id>"): STAFF,
    ("GET", "/admin/catalogue/taxonomy/tasks/<task_id>/lost"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/tasks/<task_id>/resume"): STAFF,
    ("POST", "/admin/catalogue/taxonomy/tasks/<task_id>/undo"): STAFF,
    ("GET", f"{TAXONOMY}/restore"): STAFF,
    ("POST", f"{TAXONOMY}/restore"): STAFF,
    ("POST", f"{TAXONOMY}/attribute"): STAFF,
    ("GET", f"{TAXONOMY}/review"): STAFF,
    ("POST", f"{TAXONOMY}/review"): STAFF,
    ("GET", f"{TAXONOMY}/conflict"): STAFF,
    ("POST", f"{TAXONOMY}/conflict"): STAFF,
    ("GET", f"{TAXONOMY}/banner"): STAFF,
    ("POST", f"{TAXONOMY}/rebuild"): STAFF,
}

TAXONOMY_EDITOR: Rows = {
    ("GET", TAXONOMY): STAFF,
    ("GET", f"{TAXONOMY}/level"): STAFF,
    ("GET", f"{TAXONOMY}/move"): STAFF,
    ("POST", f"{TAXONOMY}/draft"): STAFF,
    ("POST", f"{TAXONOMY}/draft/undo"): STAFF,
    ("POST", f"{TAXONOMY}/draft/redo"): STAFF,
    ("POST", f"{TAXONOMY}/draft/discard"): STAFF,
    ("POST", f"{TAXONOMY}/details"): STAFF,
}

CONTENT: Rows = {
    ("GET", "/admin/content/pages"): STAFF,
    ("GET", "/admin/content/page/new"): STAFF,
    ("POST", "/admin/content/page/new"): STAFF,
    ("GET", "/admin/content/page/<page_id>"): STAFF,
    ("POST", "/admin/content/page/<page_id>"): STAFF,
    ("POST", "/admin/content/page/<page_id>/delete"): STAFF,
}

ORDERS: Rows = {
    ("GET", "/admin/orders"): ADMINS,
    ("POST", "/admin/orders/ready"): ADMINS,
    ("GET", "/admin/orders/packing-slips"): ADMINS,
    ("POST", "/admin/orders/packing-slips"): ADMINS,
    ("GET", "/admin/orders/<order_id>"): ADMINS,
    ("GET", "/admin/orders/<order_id>/packing-slip"): ADMINS,
    ("POST", "/admin/orders/<order_id>/ready"): ADMINS,
    ("POST", "/admin/orders/<order_id>/not-ready"): ADMINS,
    ("POST", "/admin/orders/<order_id>/collect"): ADMINS,
    ("POST", "/admin/orders/<order_id>/submit"): ADMINS,
    ("POST", "/admin/orders/<order_id>/reopen"): ADMINS,
    ("POST", "/admin/orders/<order_id>/paid"): ADMINS,
    ("POST", "/admin/orders/<order_id>/not-paid"): ADMINS,
    ("POST", "/admin/orders/<order_id>/cancel"): ADMINS,
}

SUBSCRIPTIONS: Rows = {
    ("GET", "/admin/subscriptions"): ADMINS,
    ("POST", "/admin/subscriptions"): SUPERADMINS,
}

POS_PAGES: Rows = {
    ("GET", "/admin/pos"): ADMINS,
    ("GET", "/admin/pos/differences"): ADMINS,
    ("POST", "/admin/pos/differences/<difference_id>/settle"): ADMINS,
    ("GET", "/admin/pos/journal"): ADMINS,
    ("GET", "/admin/pos/journal/verification"): ADMINS,
    ("POST", "/admin/pos/journal/export"): ADMINS,
    ("POST", "/admin/pos/journal/mail"): ADMINS,
    ("GET", "/admin/pos/transactions"): ADMINS,
    ("GET", "/admin/pos/transactions.csv"): ADMINS,
    ("GET", "/admin/pos/transactions/<transaction_id>"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/anomaly"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/check"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/capture"): ADMINS,
    ("GET", "/admin/pos/transactions/<transaction_id>/mails"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/receipt"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/cancel"): ADMINS,
    ("POST", "/admin/pos/transactions/<transaction_id>/refunds"): ADMINS,
    ("GET", "/admin/pos/agents"): ADMINS,
    ("GET", "/admin/pos/agents/new"): ADMINS,
    ("POST", "/admin/pos/agents/new"): ADMINS,
    ("GET", "/admin/pos/agents/<agent_id>"): ADMINS,
    ("POST", "/admin/pos/agents/<agent_id>"): ADMINS,
    ("POST", "/admin/pos/agents/<agent_id>/disable"): ADMINS,
    ("POST", "/admin/pos/agents/<agent_id>/enable"): ADMINS,
    ("POST", "/admin/pos/agents/<agent_id>/sessions/<session_id>/revoke"): ADMINS,
    ("GET", "/admin/pos/sessions/<session_id>"): ADMINS,
    ("POST", "/admin/pos/sessions/<session_id>/close"): ADMINS,
    ("GET", "/admin/pos/reports"): ADMINS,
    ("GET", "/admin/pos/settings"): ADMINS,
    ("POST", "/admin/pos/settings"): ADMINS,
    ("GET", "/admin/pos/locations/new"): ADMINS,
    ("POST", "/admin/pos/locations/new"): ADMINS,
    ("GET", "/admin/pos/locations/<location_id>"): ADMINS,
    ("POST", "/admin/pos/locations/<location_id>"): ADMINS,
    ("POST", "/admin/pos/locations/<location_id>/printer"): ADMINS,
    ("POST", "/admin/pos/locations/<location_id>/printer/test"): ADMINS,
}

# Whoever calls these sends a bearer token; a browser's session counts for nothing there.
OPEN_TO_PROGRAMS: Rows = {
    ("GET", "/v1/openapi.json"): EVERYBODY,
    ("GET", "/v1/docs"): EVERYBODY,
    ("POST", "/v1/auth/login"): EVERYBODY,
    ("POST", "/v1/auth/refresh"): EVERYBODY,
    ("POST", "/v1/auth/logout"): EVERYBODY,
    ("POST", "/v1/auth/passkeys/assertionOptions"): EVERYBODY,
    ("POST", "/v1/webhooks/processor"): EVERYBODY,
    ("GET", "/v1/product"): EVERYBODY,
    ("GET", "/v1/product/suggest"): EVERYBODY,
    ("GET", "/v1/product/<sku_code>"): EVERYBODY,
    ("GET", "/v1/category"): EVERYBODY,
    ("GET", "/v1/category/<path>/products"): EVERYBODY,
    ("GET", "/v1/collection"): EVERYBODY,
    ("GET", "/v1/collection/<seo_name>/products"): EVERYBODY,
}

POS_SESSION = "/v1/pos/sessions/current"
POS_PEOPLE: Rows = {
    ("GET", "/v1/pos/locations"): AT_TILLS,
    ("GET", "/v1/pos/agents/me"): AT_TILLS,
    ("GET", POS_SESSION): AT_TILLS,
    ("PUT", POS_SESSION): AT_TILLS,
    ("GET", "/v1/pos/sessions/<session_id>/report"): AT_TILLS,
    ("POST", "/v1/pos/sessions/<session_id>/close"): AT_TILLS,
}

TILL = "/v1/pos/<location_id>"
POS_PAYMENTS: Rows = {
    ("GET", f"{TILL}/configuration"): AT_TILLS,
    ("POST", f"{TILL}/printJobs"): AT_TILLS,
    ("POST", f"{TILL}/connectionToken"): AT_TILLS,
    ("POST", f"{TILL}/paymentIntents"): AT_TILLS,
    ("POST", f"{TILL}/cashPayments"): AT_TILLS,
    ("POST", f"{TILL}/offlineSales"): AT_TILLS,
    ("POST", f"{TILL}/transactions/<transaction_id>/void"): AT_TILLS,
    ("POST", f"{TILL}/cashMovements"): AT_TILLS,
    ("GET", f"{TILL}/cashMovements"): AT_TILLS,
    ("GET", f"{TILL}/paymentIntents/<payment_intent_id>"): AT_TILLS,
    ("POST", f"{TILL}/paymentIntents/<payment_intent_id>/capture"): AT_TILLS,
    ("POST", f"{TILL}/paymentIntents/<payment_intent_id>/cancel"): AT_TILLS,
    ("GET", f"{TILL}/readers"): AT_TILLS,
    ("GET", f"{TILL}/readers/<reader_id>"): AT_TILLS,
    ("POST", f"{TILL}/readers/<reader_id>/process"): AT_TILLS,
    ("POST", f"{TILL}/readers/<reader_id>/cancel"): AT_TILLS,
    ("GET", f"{TILL}/paymentToken"): AT_TILLS,
    ("POST", "/v1/pos/simulator/paymentIntents/<payment_intent_id>/present"): AT_TILLS,
    ("POST", f"{TILL}/transactions/<transaction_id>/refunds"): AT_TILLS,
    ("GET", f"{TILL}/transactions"): AT_TILLS,
    ("GET", f"{TILL}/transactions/<transaction_id>"): AT_TILLS,
    ("GET", f"{TILL}/transactions/<transaction_id>/receipt"): AT_TILLS,
    ("POST", f"{TILL}/transactions/<transaction_id>/receipt"): AT_TILLS,
}

TAXONOMIES = "/v1/admin/taxonomies"
V1_MERCHANDISING = "/v1/admin/merchandising"
BASKET = "/v1/basket/<basket_id>"
AT_TILLS = ADMINS | {Principal.POS_AGENT}
V1: Rows = OPEN_TO_PROGRAMS | {
    ("GET", "/v1/auth/devices"): STAFF | AT_TILLS,
    ("DELETE", "/v1/auth/devices/<device_id>"): STAFF | AT_TILLS,
    ("GET", "/v1/auth/passkeys"): STAFF | AT_TILLS,
    ("POST", "/v1/auth/passkeys"): STAFF | AT_TILLS,
    ("POST", "/v1/auth/passkeys/options"): STAFF | AT_TILLS,
    ("DELETE", "/v1/auth/passkeys/<passkey_id>"): STAFF | AT_TILLS,
    ("POST", "/v1/basket"): AT_TILLS,
    ("GET", BASKET): AT_TILLS,
    ("PUT", BASKET): AT_TILLS,
    ("PUT", f"{BASKET}/submit"): AT_TILLS,
    ("POST", f"{BASKET}/paymentIntent"): AT_TILLS,
    ("GET", f"{V1_MERCHANDISING}/trees"): STAFF,
    ("GET", f"{V1_MERCHANDISING}/trees/<tree_id>/landing-rules"): STAFF,
    ("PUT", f"{V1_MERCHANDISING}/trees/<tree_id>/landing-rules"): STAFF,
    ("GET", f"{V1_MERCHANDISING}/nodes/<node_id>/landing-rules"): STAFF,
    ("PUT", f"{V1_MERCHANDISING}/nodes/<node_id>/landing-rules"): STAFF,
    ("GET", f"{V1_MERCHANDISING}/nodes/<node_id>/landing-pages"): STAFF,
    ("GET", TAXONOMIES): STAFF,
    ("POST", TAXONOMIES): STAFF,
    ("GET", f"{TAXONOMIES}/<taxonomy_id>"): STAFF,
    ("PUT", f"{TAXONOMIES}/<taxonomy_id>/structure"): STAFF,
    ("DELETE", f"{TAXONOMIES}/<taxonomy_id>"): ADMINS,
    ("POST", f"{TAXONOMIES}/<taxonomy_id>/activate"): ADMINS,
}

SEO: Rows = {
    ("GET", "/admin/seo/sitemap"): STAFF,
    ("GET", "/admin/seo/sitemap/build"): STAFF,
    ("POST", "/admin/seo/sitemap/build"): STAFF,
    ("GET", "/admin/seo/check"): STAFF,
    ("POST", "/admin/seo/check"): STAFF,
    ("GET", "/admin/seo/inspector"): STAFF,
    ("GET", "/admin/seo/redirects"): STAFF,
    ("GET", "/admin/seo/redirects/new"): STAFF,
    ("POST", "/admin/seo/redirects/new"): STAFF,
    ("GET", "/admin/seo/redirects/<redirect_id>"): STAFF,
    ("POST", "/admin/seo/redirects/<redirect_id>"): STAFF,
    ("POST", "/admin/seo/redirects/<redirect_id>/delete"): STAFF,
    ("GET", "/admin/seo/redirects/export.csv"): STAFF,
    ("GET", "/admin/seo/redirects/import"): STAFF,
    ("POST", "/admin/seo/redirects/import"): STAFF,
    ("POST", "/admin/seo/redirects/import/apply"): STAFF,
    ("GET", "/admin/seo/crawlers"): STAFF,
    ("POST", "/admin/seo/crawlers/tracking"): ADMINS,
    ("POST", "/admin/seo/crawlers/skipped"): ADMINS,
}

MATRIX: Rows = (
    OPEN
    | SHELL
    | MERCHANDISING
    | SEARCH
    | SEO
    | TERMS_AND_TESTS
    | SYNONYM_ROWS
    | PREVIEWS
    | STAFF_OF_SHOP
    | CATALOGUE
    | TAXONOMY_JSON
    | TAXONOMY_LOG
    | TAXONOMY_PAGES
    | TAXONOMY_EDITOR
    | CONTENT
    | ORDERS
    | SUBSCRIPTIONS
    | POS_PAGES
    | POS_PEOPLE
    | POS_PAYMENTS
    | V1
)
