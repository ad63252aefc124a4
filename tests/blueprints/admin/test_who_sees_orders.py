"""Who may see orders, as the page tells somebody who may not."""

from __future__ import annotations


def test_a_merchandiser_learns_who_sees_orders(signed_in) -> None:
    page = signed_in().get("/admin/orders", status=403)
    assert "Orders hold customers’ addresses; admins of this shop see them." in page.texts["p"]
