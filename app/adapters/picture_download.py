"""Pictures fetched from addresses that users chose: from hosts on the internet alone, at the ports of the web, within
bounds of time and size. The picture itself is checked where it is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from app.domain.catalogue.picture_source import PictureNotFetched, host_of_address
from app.domain.catalogue.pictures import LARGEST_UPLOAD
from app.domain.shared.ip_addresses import is_public

if TYPE_CHECKING:
    from httpx2 import Client, Response

TIMEOUT = 15.0  # Seconds for the whole exchange, redirects included.
LARGEST_ANSWER = LARGEST_UPLOAD + 256 * 1024  # Bytes as they come, with headers and redirects.
MOST_REDIRECTS = 3
WEB_PORTS = frozenset((80, 443))
HEADERS = {"User-Agent": "shop-pictures", "Accept": "image/webp, image/png, image/jpeg, image/gif"}


class PictureDownload:
    """Fetches from hosts whose IP addresses `allows` and at `ports`, any for None."""

    def __init__(
        self,
        allows: Callable[[str], bool] = is_public,
        ports: frozenset[int] | None = WEB_PORTS,
        timeout: float = TIMEOUT,
    ) -> None:
        self._allows, self._ports, self._timeout = allows, ports, timeout

    def fetch(self, address: str) -> bytes:
        # Imported when they are needed: they take a while.
        from httpx2 import HTTPError, InvalidURL

        from app.adapters.bounded_http import OutOfBounds, OutOfTime, bounded_client

        try:
            with bounded_client(address, self._timeout, LARGEST_ANSWER, self._allows) as client:
                answer = self._follow(client, address)
        except OutOfBounds as error:
            is_silent = isinstance(error, OutOfTime)
            raise PictureNotFetched(f"It cannot be fetched: {error}", is_silent) from error
        except (HTTPError, InvalidURL, UnicodeError) as error:
            raise PictureNotFetched(f"The host does not answer ({type(error).__name__}).", is_silent=True) from error
        if answer.status_code != 200:
            raise PictureNotFetched(f"The host answered with status {answer.status_code}.")
        return answer.content

    def _follow(self, client: Client, address: str) -> Response:
        """Return the answer after at most MOST_REDIRECTS redirects, each to an address that is checked as the first."""
        for _ in range(MOST_REDIRECTS + 1):
            self._check(address)
            answer = client.get(address, headers=HEADERS)
            if not answer.has_redirect_location:
                return answer
            try:
                address = urljoin(address, answer.headers["Location"])
            except ValueError as error:
                raise PictureNotFetched("The host redirects to what is no address.") from error
        raise PictureNotFetched(f"The host redirects more than {MOST_REDIRECTS} times.")

    def _check(self, address: str) -> None:
        host_of_address(address)
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if self._ports is not None and port not in self._ports:
            raise PictureNotFetched(f"Port {port} is none of the web: only 80 and 443 are fetched from.")
