"""Compression of texts for clients that take gzip. Only for answers without secrets: where a secret stands beside words
of the request, the compressed length reveals it (BREACH)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import lru_cache, partial

from flask import Response, make_response, request

COMPRESSED = frozenset(("text/html", "text/css", "text/javascript", "image/svg+xml", "application/json"))
WORTH_COMPRESSING = 1_000  # Bytes.
QUICK, THOROUGH = 4, 9

Compress = Callable[[bytes], bytes]
quickly: Compress = partial(gzip.compress, compresslevel=QUICK, mtime=0)


@lru_cache(maxsize=256)
def once(text: bytes) -> bytes:
    """Compress a text that is sent again and again; the result is cached."""
    return gzip.compress(text, THOROUGH, mtime=0)


def takes_gzip() -> bool:
    return request.accept_encodings.quality("gzip") > 0


def answer_of_gzip(text: bytes) -> Response:
    """Return the answer with an HTML page that is stored as gzip, decompressed for clients that do not take gzip."""
    is_packed = takes_gzip()
    response = make_response(text if is_packed else gzip.decompress(text))
    if is_packed:
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    return response


def compressed(response: Response, compress: Compress) -> Response:
    """Compress an answer whose body is known and whose client takes gzip, and declare in either case that it varies by
    encoding. HEAD gets the headers of GET."""
    if response.mimetype not in COMPRESSED or response.status_code not in (200, 206, 304):
        return response
    response.vary.add("Accept-Encoding")
    if response.status_code != 200 or not takes_gzip():
        return response
    response.direct_passthrough = False
    text = response.get_data()
    if len(text) >= WORTH_COMPRESSING:
        response.set_data(compress(text))
        response.headers["Content-Encoding"] = "gzip"
        etag, _ = response.get_etag()
        if etag is not None:
            response.set_etag(etag, weak=True)
    return response
