"""A bar code as a picture, and a picture as the film of a camera that Chromium plays instead of a real one."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 640, 480
LEFT = ("0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011")
PARITY = (
    "LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG", "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL",
)  # fmt: skip


def ean13_modules(digits: str) -> str:
    """Return the bars (1) and spaces (0) of an EAN-13 of 13 digits, by GS1's General Specifications."""
    left = "".join(_left(digit, parity) for digit, parity in zip(digits[1:7], PARITY[int(digits[0])], strict=True))
    right = "".join(_inverted(LEFT[int(digit)]) for digit in digits[7:])
    return f"101{left}01010{right}101"


def _left(digit: str, parity: str) -> str:
    code = LEFT[int(digit)]
    return code if parity == "L" else _inverted(code)[::-1]


def _inverted(code: str) -> str:
    return code.translate(str.maketrans("01", "10"))


def ean13_picture(digits: str, module: int = 4) -> Image.Image:
    """Return a grey picture of the bar code on a light label before a darker ground."""
    picture = Image.new("L", (WIDTH, HEIGHT), 120)
    draw = ImageDraw.Draw(picture)
    bars = ean13_modules(digits)
    left, top, height = (WIDTH - module * len(bars)) // 2, 150, 180
    draw.rectangle((left - 12 * module, top - 30, left + module * (len(bars) + 12), top + height + 30), fill=235)
    for place, bar in enumerate(bars):
        if bar == "1":
            at = left + place * module
            draw.rectangle((at, top, at + module - 1, top + height), fill=20)
    return picture


def write_film(path: Path, *pictures: Image.Image) -> None:
    """Write pictures as an uncompressed film (YUV4MPEG2), which Chromium repeats without end."""
    frames = b"".join(b"FRAME\n" + picture.tobytes() + bytes([128]) * (WIDTH * HEIGHT // 2) for picture in pictures)
    path.write_bytes(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F10:1 Ip A1:1 C420jpeg\n".encode() + frames)
