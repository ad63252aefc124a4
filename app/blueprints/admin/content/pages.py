"""Pages of text."""

from __future__ import annotations

from app.blueprints.admin.content.editor import ContentEditor, TextControl
from app.blueprints.admin.content.views import add_editor
from app.domain.catalogue.content import PAGE
from app.permissions import Permission

add_editor(
    ContentEditor(
        kind=PAGE,
        plural="pages",
        folder="/content",
        permission=Permission.MANAGE_CONTENT,
        lead="What the shop says besides products: about, delivery, returns.",
        none_yet="Pages tell shoppers about delivery, returns and who you are.",
        controls=(
            TextControl("title", "Title"),
            TextControl(
                "body",
                "Body",
                "Headings, lists, tables, links and pictures are kept; scripts are removed.",
                rows=16,
                is_rich=True,
            ),
        ),
        address_heading="Address and search engines",
        address_controls=(
            TextControl(
                "meta_description", "Meta description", "One or two sentences that search engines may show.", rows=2
            ),
        ),
        deletion="Shoppers who follow a link to it find nothing. This cannot be undone. To keep it out of sight "
        "instead, untick “Shown in the shop”.",
    )
)
