"""Pictures and archives of them, made for a test."""

from __future__ import annotations

import io
import zipfile

from PIL import Image


def png(shade: int) -> bytes:
    """A small picture that is another one for each shade from 0 to 31."""
    data = io.BytesIO()
    Image.new("RGB", (40, 30), (shade * 8, 255 - shade * 8, 30)).save(data, "PNG")
    return data.getvalue()


def packed(files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()
