"""Outlines of things with a plug. A canvas of 400 by 400; {c} is the main colour, {d} darker, {l} lighter."""

from __future__ import annotations

SHAPES = {
    "laptop": (
        '<rect x="96" y="108" width="208" height="140" rx="10" fill="{d}"/>'
        '<rect x="108" y="120" width="184" height="116" rx="3" fill="{l}"/>'
        '<path d="M108 236 200 120h92v116z" fill="#fff" opacity=".25"/>'
        '<path d="M64 256h272l-16 30H80z" fill="{c}"/><path d="M168 256h64l-6 10h-52z" fill="{d}"/>'
    ),
    "monitor": (
        '<rect x="72" y="92" width="256" height="164" rx="10" fill="{d}"/>'
        '<rect x="84" y="104" width="232" height="140" rx="3" fill="{l}"/>'
        '<path d="M84 244 216 104h100v140z" fill="#fff" opacity=".25"/><path d="M180 256h40l8 40h-56z" fill="{c}"/>'
        '<rect x="140" y="292" width="120" height="12" rx="6" fill="{d}"/>'
    ),
    "desktop": (
        '<rect x="132" y="80" width="136" height="220" rx="10" fill="{c}"/>'
        '<rect x="148" y="100" width="104" height="18" rx="4" fill="{d}"/>'
        '<rect x="148" y="128" width="104" height="10" rx="4" fill="{d}"/>'
        '<circle cx="200" cy="226" r="38" fill="{d}"/><circle cx="200" cy="226" r="24" fill="{l}"/>'
        '<circle cx="160" cy="160" r="7" fill="#fff"/>'
    ),
    "tablet": (
        '<rect x="116" y="76" width="168" height="232" rx="16" fill="{d}"/>'
        '<rect x="130" y="94" width="140" height="196" rx="4" fill="{l}"/>'
        '<path d="M130 290 238 94h32v196z" fill="#fff" opacity=".3"/>'
    ),
    "phone": (
        '<rect x="142" y="72" width="116" height="240" rx="22" fill="{d}"/>'
        '<rect x="152" y="84" width="96" height="216" rx="12" fill="{l}"/>'
        '<path d="M152 300 232 84h16v216z" fill="#fff" opacity=".3"/>'
        '<rect x="182" y="92" width="36" height="8" rx="4" fill="{d}"/>'
    ),
    "keyboard": (
        '<rect x="60" y="150" width="280" height="112" rx="14" fill="{c}"/><g fill="{l}">'
        '<rect x="78" y="168" width="30" height="20" rx="4"/><rect x="116" y="168" width="30" height="20" rx="4"/>'
        '<rect x="154" y="168" width="30" height="20" rx="4"/><rect x="192" y="168" width="30" height="20" rx="4"/>'
        '<rect x="230" y="168" width="30" height="20" rx="4"/><rect x="268" y="168" width="54" height="20" rx="4"/>'
        '<rect x="78" y="196" width="48" height="20" rx="4"/><rect x="134" y="196" width="30" height="20" rx="4"/>'
        '<rect x="172" y="196" width="30" height="20" rx="4"/><rect x="210" y="196" width="30" height="20" rx="4"/>'
        '<rect x="248" y="196" width="74" height="20" rx="4"/>'
        '<rect x="126" y="224" width="150" height="20" rx="4"/></g>'
    ),
    "mouse": (
        '<path d="M200 96c-46 0-70 34-70 84v44c0 46 30 80 70 80s70-34 70-80v-44c0-50-24-84-70-84z" fill="{c}"/>'
        '<path d="M200 96c-46 0-70 34-70 84v6h70z" fill="{d}"/>'
        '<rect x="192" y="130" width="16" height="40" rx="8" fill="{l}"/>'
    ),
    "headphones": (
        '<path d="M96 236v-24a104 104 0 0 1 208 0v24" fill="none" stroke="{c}" stroke-width="22"/>'
        '<rect x="78" y="206" width="58" height="92" rx="26" fill="{d}"/>'
        '<rect x="264" y="206" width="58" height="92" rx="26" fill="{d}"/>'
        '<rect x="118" y="214" width="24" height="76" rx="12" fill="{l}"/>'
        '<rect x="258" y="214" width="24" height="76" rx="12" fill="{l}"/>'
    ),
    "speaker": (
        '<rect x="130" y="80" width="140" height="226" rx="16" fill="{c}"/>'
        '<circle cx="200" cy="136" r="28" fill="{d}"/><circle cx="200" cy="136" r="12" fill="{l}"/>'
        '<circle cx="200" cy="230" r="52" fill="{d}"/><circle cx="200" cy="230" r="34" fill="{l}"/>'
        '<circle cx="200" cy="230" r="14" fill="{d}"/>'
    ),
    "camera": (
        '<path d="M148 120l16-26h72l16 26z" fill="{d}"/>'
        '<rect x="76" y="118" width="248" height="166" rx="18" fill="{c}"/>'
        '<circle cx="200" cy="202" r="62" fill="{d}"/><circle cx="200" cy="202" r="44" fill="{l}"/>'
        '<circle cx="200" cy="202" r="24" fill="{d}"/><circle cx="188" cy="190" r="8" fill="#fff"/>'
        '<rect x="276" y="136" width="30" height="16" rx="4" fill="{l}"/>'
    ),
    "printer": (
        '<path d="M136 84h128v70H136z" fill="#fff"/>'
        '<rect x="84" y="148" width="232" height="104" rx="14" fill="{c}"/>'
        '<path d="M126 226h148v74H126z" fill="#fff"/>'
        '<path d="M146 248h108M146 266h108M146 284h70" stroke="{d}" stroke-width="6"/>'
        '<rect x="116" y="216" width="168" height="14" rx="7" fill="{d}"/>'
        '<circle cx="288" cy="174" r="8" fill="{l}"/>'
    ),
    "cartridge": (
        '<path d="M112 128h150l26 34v110H112z" fill="{c}"/><path d="M262 128l26 34h-26z" fill="{l}"/>'
        '<rect x="134" y="176" width="108" height="66" rx="6" fill="#fff"/>'
        '<path d="M188 186c14 20 20 28 20 36a20 20 0 0 1-40 0c0-8 6-16 20-36z" fill="{d}"/>'
        '<rect x="130" y="272" width="60" height="14" fill="{d}"/>'
    ),
    "cable": (
        '<path d="M104 270c0-120 90 0 96-90s96-60 96 30" fill="none" stroke="{c}" stroke-width="16" '
        'stroke-linecap="round"/><rect x="82" y="250" width="44" height="56" rx="8" fill="{d}"/>'
        '<rect x="92" y="232" width="24" height="22" fill="{l}"/>'
        '<rect x="274" y="190" width="44" height="56" rx="8" fill="{d}"/>'
        '<rect x="284" y="242" width="24" height="22" fill="{l}"/>'
    ),
    "drive": (
        '<rect x="98" y="104" width="204" height="178" rx="16" fill="{c}"/>'
        '<circle cx="186" cy="184" r="58" fill="{l}"/><circle cx="186" cy="184" r="16" fill="{d}"/>'
        '<path d="M272 258 196 192" stroke="{d}" stroke-width="12" stroke-linecap="round"/>'
        '<circle cx="276" cy="258" r="12" fill="{d}"/>'
    ),
    "chip": (
        '<g stroke="{d}" stroke-width="10">'
        '<path d="M150 92v216M184 92v216M218 92v216M252 92v216M92 150h216M92 184h216M92 218h216M92 252h216"/></g>'
        '<rect x="118" y="118" width="164" height="164" rx="14" fill="{c}"/>'
        '<rect x="156" y="156" width="88" height="88" rx="8" fill="{l}"/>'
        '<circle cx="140" cy="140" r="7" fill="#fff"/>'
    ),
    "network": (
        '<rect x="76" y="180" width="248" height="84" rx="14" fill="{c}"/>'
        '<path d="M116 180V96M284 180V96" stroke="{d}" stroke-width="12" stroke-linecap="round"/><g fill="{l}">'
        '<circle cx="112" cy="222" r="9"/><circle cx="142" cy="222" r="9"/><circle cx="172" cy="222" r="9"/></g>'
        '<rect x="206" y="208" width="92" height="28" rx="5" fill="{d}"/>'
    ),
    "projector": (
        '<rect x="72" y="142" width="256" height="112" rx="20" fill="{c}"/>'
        '<circle cx="262" cy="198" r="42" fill="{d}"/><circle cx="262" cy="198" r="26" fill="{l}"/>'
        '<path d="M100 172h80M100 192h80M100 212h80" stroke="{d}" stroke-width="8" stroke-linecap="round"/>'
        '<path d="M104 254h28v18h-28zM268 254h28v18h-28z" fill="{d}"/>'
    ),
    "controller": (
        '<path d="M128 146h144c42 0 62 74 62 112 0 30-36 40-58 8l-16-24H140l-16 24c-22 32-58 22-58-8 0-38 20-112 '
        '62-112z" fill="{c}"/><path d="M134 178h20v16h16v20h-16v16h-20v-16h-16v-20h16z" fill="{d}"/>'
        '<circle cx="256" cy="184" r="11" fill="{l}"/><circle cx="282" cy="204" r="11" fill="{l}"/>'
        '<circle cx="256" cy="224" r="11" fill="{d}"/>'
    ),
    "battery": (
        '<rect x="124" y="108" width="152" height="190" rx="16" fill="{c}"/>'
        '<rect x="172" y="88" width="56" height="24" rx="6" fill="{d}"/>'
        '<path d="M210 138l-44 70h30l-10 60 48-76h-32z" fill="{l}"/>'
    ),
}
