"""After signing in nobody is sent anywhere but into this admin."""

import pytest

from app.blueprints.admin.sign_in import return_to

ELSEWHERE = """
//evil.example /\\evil.example \\\\evil.example \\/evil.example https:evil.example https://evil.example
http:/evil.example https:/evil.example ///evil.example ////evil.example javascript:alert(1)
JaVaScRiPt:alert(1) data:text/html,x
/%09/evil.example /admin\\..\\..\\evil /admin//evil.example /admin/..//evil.example /admin@evil.example //admin/search
admin/search ./admin ../admin ?next=/admin #admin . .. / /p/boots /administrator /admin.evil.example /Admin
/ADMIN/search https://localhost/admin //localhost/admin http://localhost:80/admin localhost/admin /admin\\ /admin/\\evil
mailto:x@evil.example vbscript:x ftp://evil.example file:///etc/passwd blob:x about:blank
/ádmin /admin/é /admin/\u202e ／admin ／／evil.example /\u2215evil.example
""".split()  # noqa: SIM905 A list of these would be harder to read.
WITH_BLANKS = [
    "", " ", " /admin", "/admin ", "\t/admin", "/admin\n", "/\t/evil.example", "/\n/evil.example", "/\r\n/evil.example",
    "/admin\r\nLocation: https://evil.example", "/admin\x00", "/admin/\x7f", "/ /evil.example", "\x01https://evil.example",
    "/admin/" + "a" * 2_000, "/admin/\u2028", "/admin\u00a0",
]  # fmt: skip


@pytest.mark.parametrize("wanted", [*ELSEWHERE, *WITH_BLANKS, None])
def test_elsewhere_is_not_gone_to(wanted: str | None) -> None:
    assert return_to(wanted) is None


@pytest.mark.parametrize(
    "wanted", ["/admin", "/admin/", "/admin/search", "/admin/catalogue/products?q=a%20b&p=2", "/admin?x=/y"]
)
def test_a_page_of_the_admin_is_gone_to(wanted: str) -> None:
    assert return_to(wanted) == wanted
