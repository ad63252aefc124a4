"""The bytes for a receipt printer as a person reads them: an independent reading of what the till encodes."""

from __future__ import annotations

import re

# Code pages by the number that ESC/POS printers of Epson know them by, and StarPRNT printers.
EPSON = {
    0: "cp437",
    2: "cp850",
    13: "cp857",
    14: "cp737",
    16: "cp1252",
    17: "cp866",
    18: "cp852",
    19: "cp858",
    45: "cp1250",
}
STAR = {0: "cp437", 1: "cp437", 4: "cp858", 5: "cp852", 10: "cp866", 15: "cp737", 32: "cp1252"}
# Commands by the bytes that they begin with, how many more bytes they have, and a name.
ESC_POS = {
    b"\x1b@": (0, "reset"),
    b"\x1c.": (0, "no Chinese letters"),
    b"\x1bM": (1, "font"),
    b"\x1bp": (3, "drawer"),
    b"\x1ba": (1, "align"),
    b"\x1bE": (1, "bold"),
    b"\x1d!": (1, "size"),
    b"\x1bt": (1, "code page"),
    b"\x1dV": (1, "cut"),
}
STAR_PRNT = {
    b"\x1b@\x18": (0, "reset"),
    b"\x1b\x1eF": (1, "font"),
    b"\x1b\x07": (2, "pulse width"),
    b"\x07": (0, "drawer"),
    b"\x1b\x1da": (1, "align"),
    b"\x1bE": (0, "bold 1"),
    b"\x1bF": (0, "bold 0"),
    b"\x1bi": (2, "size"),
    b"\x1b\x1dt": (1, "code page"),
    b"\x1b\x1dyS": (2, "QR option"),
    b"\x1b\x1dyP": (0, "QR print"),
    b"\x1bd": (1, "cut"),
    b"\x18": (0, "flush"),
    b"\x0c": (0, "print"),
}


def readable(job: bytes, language: str = "esc-pos") -> str:
    """Return the text of a job, with each command in brackets, where the printer prints letters as letters."""
    commands, pages = (ESC_POS, EPSON) if language == "esc-pos" else (STAR_PRNT, STAR)
    longest_first = sorted(commands, key=len, reverse=True)
    found, page, at = [], "ascii", 0
    while at < len(job):
        if block := _qr_block(job, at):
            found.append(f"[QR {block[1]}]")
            at += block[0]
            continue
        command = next((begin for begin in longest_first if job.startswith(begin, at)), None)
        if command is None:
            byte = job[at : at + 1]
            found.append(byte.decode(page) if byte >= b" " or byte in b"\n\r" else f"[unknown {byte.hex()}]")
            at += 1
            continue
        length, name = commands[command]
        values = job[at + len(command) : at + len(command) + length]
        if name == "code page":
            page = pages[values[0]]
            values, name = b"", f"code page {page}"
        found.append(f"[{' '.join([name, *map(str, values)])}]")
        at += len(command) + length
    return re.sub("[ \t]+$", "", "".join(found).replace("\n\r", "\n").replace("\r", ""), flags=re.MULTILINE)


def _qr_block(job: bytes, at: int) -> tuple[int, str] | None:
    """Return the length and the meaning of a block of a QR code at this place; None where there is none."""
    if job.startswith(b"\x1d(k", at):
        length = job[at + 3] + 256 * job[at + 4]
        block = job[at + 5 : at + 5 + length]
        text = block[3:].decode() if block[1:2] == b"P" else " ".join(map(str, block[2:]))
        return length + 5, f"{block[1:2].decode()} {text}"
    if job.startswith(b"\x1b\x1dyD1", at):
        length = job[at + 6] + 256 * job[at + 7]
        return length + 8, f"data {job[at + 8 : at + 8 + length].decode()}"
    return None
