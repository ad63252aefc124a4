"""The schema of an index, in Whoosh's terms. Everything on disk is read and written by these names."""

from __future__ import annotations

from whoosh import analysis, columns, fields, formats

from app.domain.search.ranking.scoring import EXACT_FIELDS, FIELDS, TEXT_FIELDS

ID_FIELD = "id"
INDEXED_FIELDS = (*FIELDS, ID_FIELD)

# Columns of bytes: what comes back with a hit, what reconciliation compares, what the order by name uses.
ID_COLUMN = "doc"
CARD_COLUMN = "card"
DIGEST_COLUMN = "digest"
SORT_NAME_COLUMN = "sortname"
VECTORS_COLUMN = "vectors"  # Ours alone: Whoosh reads columns by the names in its schema.
BYTES_COLUMNS = (ID_COLUMN, CARD_COLUMN, DIGEST_COLUMN, SORT_NAME_COLUMN)

VALUES_PREFIX = "v_"
NUMBER_PREFIX = "n_"
# Numbers that few documents have, such as the width of a screen, kept as references to the distinct ones.
RARE_NUMBER_PREFIX = "r_"

# The names of the levels of documents are kept as values are, under a name that no attribute can have.
KIND_NAMES = "kind names"

# Separates the values of one document within its column entry.
VALUE_SEPARATOR = "\x1f"


def index_schema() -> fields.Schema:
    """The schema of both indexes. Value and number columns come with the documents, so they match by prefix."""
    schema = fields.Schema()
    for name in TEXT_FIELDS:
        schema.add(name, _words(scorable=True))
    for name in EXACT_FIELDS:
        schema.add(name, _words(scorable=False))
    schema.add(ID_FIELD, fields.FieldType(formats.Existence(), analysis.IDTokenizer(), unique=True))
    for name in BYTES_COLUMNS:
        schema.add(name, fields.COLUMN(columns.VarBytesColumn()))
    schema.add(VALUES_PREFIX + "*", fields.COLUMN(columns.RefBytesColumn()), glob=True)
    schema.add(RARE_NUMBER_PREFIX + "*", fields.COLUMN(columns.RefBytesColumn()), glob=True)
    schema.add(NUMBER_PREFIX + "*", fields.COLUMN(columns.NumericColumn("d", default=float("nan"))), glob=True)
    return schema


def _words(*, scorable: bool) -> fields.FieldType:
    """A field of words whose postings carry their frequency as weight, which is all that BM25 reads."""
    return fields.FieldType(formats.Existence(), analysis.RegexTokenizer(r"[^\W_]+"), scorable=scorable)
