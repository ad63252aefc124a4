"""Outlines of things for the house, the garden and the hills. A canvas of 400 by 400; {c} is the main colour,
{d} darker, {l} lighter."""

from __future__ import annotations

SHAPES = {
    "tent": (
        '<path d="M200 96 60 292h280z" fill="{c}"/><path d="M200 96l-44 196h88z" fill="{d}"/>'
        '<path d="M200 130l-30 162h20zM200 130l30 162h-20z" fill="{l}"/>'
        '<path d="M200 96v-18M60 292l-16 12M340 292l16 12" stroke="{d}" stroke-width="6" stroke-linecap="round"/>'
    ),
    "sleepingbag": (
        '<path d="M136 110c0-28 128-28 128 0l14 150c2 30-20 48-78 48s-80-18-78-48z" fill="{c}"/>'
        '<path d="M150 118c0-22 100-22 100 0v44c-20 16-80 16-100 0z" fill="{l}"/>'
        '<path d="M128 196c40 18 104 18 144 0M126 236c40 18 108 18 148 0M126 272c40 16 108 16 148 0" fill="none" '
        'stroke="{d}" stroke-width="6"/>'
    ),
    "mat": (
        '<path d="M84 262h190a44 44 0 1 0-40-62L84 240z" fill="{c}"/><circle cx="274" cy="218" r="44" fill="{d}"/>'
        '<circle cx="274" cy="218" r="30" fill="{l}"/><circle cx="274" cy="218" r="16" fill="{d}"/>'
        '<path d="M84 240v22h190" fill="none" stroke="{d}" stroke-width="6"/>'
    ),
    "hammock": (
        '<path d="M84 96v214M316 96v214" stroke="{d}" stroke-width="16" stroke-linecap="round"/>'
        '<path d="M84 132c40 30 46 40 52 50M316 132c-40 30-46 40-52 50" fill="none" stroke="{l}" '
        'stroke-width="8"/>'
        '<path d="M126 172c10 70 40 96 74 96s64-26 74-96c-30 34-118 34-148 0z" fill="{c}"/>'
        '<path d="M150 196c12 34 28 54 50 54s38-20 50-54" fill="none" stroke="{l}" stroke-width="6"/>'
    ),
    "stove": (
        '<path d="M132 148h136l-10 60H142z" fill="{d}"/><path d="M126 132h148v18H126z" fill="{l}"/>'
        '<path d="M152 216h96l-12 34h-72z" fill="{c}"/>'
        '<rect x="158" y="250" width="84" height="56" rx="12" fill="{c}"/>'
        '<path d="M268 160h56" stroke="{d}" stroke-width="10" stroke-linecap="round"/>'
    ),
    "bottle": (
        '<rect x="176" y="72" width="48" height="40" rx="8" fill="{d}"/>'
        '<path d="M168 116h64c22 16 30 34 30 60v112c0 14-8 22-22 22h-80c-14 0-22-8-22-22V176c0-26 8-44 30-60z" '
        'fill="{c}"/><path d="M138 196h124v64H138z" fill="{l}"/>'
        '<path d="M156 150v140" stroke="#fff" stroke-width="8" opacity=".35" stroke-linecap="round"/>'
    ),
    "mug": (
        '<path d="M252 156h30c46 0 46 92 0 92h-30" fill="none" stroke="{d}" stroke-width="18"/>'
        '<path d="M104 128h156v120c0 32-22 50-50 50h-56c-28 0-50-18-50-50z" fill="{c}"/>'
        '<ellipse cx="182" cy="128" rx="78" ry="18" fill="{d}"/>'
        '<ellipse cx="182" cy="130" rx="64" ry="11" fill="{l}"/>'
    ),
    "bowl": (
        '<path d="M80 164h240c0 74-44 116-84 116h-72c-40 0-84-42-84-116z" fill="{c}"/>'
        '<ellipse cx="200" cy="164" rx="120" ry="26" fill="{d}"/>'
        '<ellipse cx="200" cy="167" rx="100" ry="17" fill="{l}"/><path d="M156 280h88v16h-88z" fill="{d}"/>'
    ),
    "pan": (
        '<path d="M58 190h204l-14 82c-2 14-12 22-26 22H98c-14 0-24-8-26-22z" fill="{c}"/>'
        '<path d="M52 176h216v18H52z" fill="{d}"/>'
        '<path d="M262 190l92-30" stroke="{d}" stroke-width="18" stroke-linecap="round"/>'
        '<path d="M84 216l10 52" stroke="{l}" stroke-width="8" stroke-linecap="round"/>'
    ),
    "knife": (
        '<path d="M60 236c80-20 150-70 196-130l30 30-76 96z" fill="{l}"/>'
        '<path d="M60 236c80-20 150-70 196-130" fill="none" stroke="{d}" stroke-width="5"/>'
        '<path d="M222 214l34-40 66 66c18 20-10 50-32 32z" fill="{c}"/><circle cx="266" cy="222" r="6" fill="{l}"/>'
        '<circle cx="292" cy="248" r="6" fill="{l}"/>'
    ),
    "lamp": (
        '<path d="M152 84h96l44 108H108z" fill="{c}"/><path d="M108 192h184l5 14H103z" fill="{d}"/>'
        '<path d="M194 206h12v74h-12z" fill="{d}"/>'
        '<rect x="146" y="280" width="108" height="20" rx="10" fill="{d}"/>'
        '<path d="M164 96l-30 84" stroke="{l}" stroke-width="8" stroke-linecap="round"/>'
    ),
    "torch": (
        '<path d="M92 168h160v64H92z" fill="{c}"/><path d="M252 156l52-20v128l-52-20z" fill="{d}"/>'
        '<path d="M304 136h14v128h-14z" fill="{l}"/>'
        '<rect x="150" y="178" width="44" height="18" rx="9" fill="{l}"/>'
        '<path d="M92 168c-16 0-22 12-22 32s6 32 22 32z" fill="{d}"/>'
    ),
    "candle": (
        '<rect x="136" y="164" width="128" height="140" rx="14" fill="{c}"/>'
        '<ellipse cx="200" cy="166" rx="64" ry="16" fill="{l}"/>'
        '<path d="M200 164v-24" stroke="{d}" stroke-width="6"/>'
        '<path d="M200 84c18 24 26 34 26 44a26 26 0 0 1-52 0c0-10 8-20 26-44z" fill="#f2b84b"/>'
        '<rect x="156" y="216" width="88" height="44" rx="6" fill="#fff" opacity=".8"/>'
    ),
    "cushion": (
        '<path d="M92 104c72 24 144 24 216 0 22 64 22 128 0 192-72-24-144-24-216 0-22-64-22-128 0-192z" '
        'fill="{c}"/><path d="M108 200h184M200 112v176" stroke="{l}" stroke-width="6" opacity=".8"/>'
        '<path d="M138 138l124 124M262 138 138 262" stroke="{d}" stroke-width="5" opacity=".6"/>'
    ),
    "blanket": (
        '<path d="M92 132h172c24 0 44 16 44 40v108H136c-26 0-44-16-44-40z" fill="{c}"/>'
        '<path d="M92 186h216M92 226h216" stroke="{l}" stroke-width="12"/>'
        '<path d="M136 280h172v20H136c-26 0-44-16-44-40v-20c0 24 18 40 44 40z" fill="{d}"/>'
    ),
    "chair": (
        '<path d="M128 84h28l10 116h104v26H136z" fill="{c}"/><path d="M150 104h16l8 84h-16z" fill="{l}"/>'
        '<path d="M144 226h20l-10 86h-18zM252 226h20l12 86h-18z" fill="{d}"/>'
        '<path d="M138 200h136v26H138z" fill="{d}"/>'
    ),
    "table": (
        '<path d="M72 164h256v26H72z" fill="{c}"/>'
        '<path d="M92 190h24l-8 116H88zM284 190h24l4 116h-20z" fill="{d}"/>'
        '<path d="M84 164h232l-26-24H110z" fill="{l}"/>'
    ),
    "basket": (
        '<path d="M122 176c0-110 156-110 156 0" fill="none" stroke="{d}" stroke-width="12"/>'
        '<path d="M80 172h240l-24 124H104z" fill="{c}"/>'
        '<path d="M92 204h216M98 236h204M104 266h192" stroke="{d}" stroke-width="6"/>'
        '<path d="M140 176l8 116M180 176l4 116M220 176l-4 116M260 176l-8 116" stroke="{l}" stroke-width="5"/>'
    ),
    "plant": (
        '<path d="M200 214c-10-60-60-76-90-72 4 50 40 76 90 72zM200 206c10-66 56-92 92-90-2 56-40 92-92 90zM200 '
        '200c-24-40-18-90 4-112 22 32 20 76-4 112z" fill="#4d7c4f"/><path d="M132 214h136l-16 92H148z" fill="{c}"/>'
        '<path d="M124 204h152v24H124z" fill="{d}"/>'
    ),
    "tool": (
        '<path d="M186 172h28v140c0 8-6 12-14 12s-14-4-14-12z" fill="{c}"/>'
        '<path d="M110 104h150c26 0 40 16 40 40l-40-8v36H146v-36h-36z" fill="{d}"/>'
        '<path d="M110 104h30v32h-30z" fill="{l}"/>'
    ),
    "bike": (
        '<circle cx="116" cy="240" r="60" fill="none" stroke="{d}" stroke-width="12"/>'
        '<circle cx="284" cy="240" r="60" fill="none" stroke="{d}" stroke-width="12"/>'
        '<path d="M116 240l44-96h84l40 96M160 144l36 96h-80M196 240l56-96M244 144l-8-32h28M146 132h34" '
        'fill="none" stroke="{c}" stroke-width="12" stroke-linecap="round" stroke-linejoin="round"/>'
    ),
    "rope": (
        '<circle cx="200" cy="196" r="84" fill="none" stroke="{c}" stroke-width="44"/>'
        '<circle cx="200" cy="196" r="84" fill="none" stroke="{l}" stroke-width="44" stroke-dasharray="6 16"/>'
        '<circle cx="200" cy="196" r="108" fill="none" stroke="{d}" stroke-width="5"/>'
        '<path d="M182 96h36v56h-36z" fill="{d}"/>'
    ),
    "poles": (
        '<path d="M132 96l60 212M268 96l-60 212" stroke="{c}" stroke-width="12" stroke-linecap="round"/>'
        '<path d="M126 78l16 56M274 78l-16 56" stroke="{d}" stroke-width="20" stroke-linecap="round"/>'
        '<path d="M170 272l30-8M230 272l-30-8" stroke="{l}" stroke-width="12" stroke-linecap="round"/>'
    ),
    "book": (
        '<path d="M112 92h150c18 0 28 10 28 28v180H140c-18 0-28-8-28-26z" fill="{c}"/>'
        '<path d="M112 274c0-18 10-26 28-26h150v52H140c-18 0-28-8-28-26z" fill="#fff"/>'
        '<path d="M130 274h150" stroke="{d}" stroke-width="5"/>'
        '<path d="M152 128h98M152 152h70" stroke="{l}" stroke-width="10" stroke-linecap="round"/>'
    ),
    "clock": (
        '<circle cx="200" cy="196" r="108" fill="{c}"/><circle cx="200" cy="196" r="86" fill="#fff"/>'
        '<path d="M200 140v58l38 26" fill="none" stroke="{d}" stroke-width="10" stroke-linecap="round"/>'
        '<g fill="{l}"><circle cx="200" cy="124" r="6"/><circle cx="200" cy="268" r="6"/>'
        '<circle cx="128" cy="196" r="6"/><circle cx="272" cy="196" r="6"/></g>'
    ),
    "toy": (
        '<circle cx="146" cy="112" r="30" fill="{d}"/><circle cx="254" cy="112" r="30" fill="{d}"/>'
        '<circle cx="200" cy="156" r="74" fill="{c}"/><ellipse cx="200" cy="184" rx="34" ry="26" fill="{l}"/>'
        '<circle cx="174" cy="144" r="8" fill="#222"/><circle cx="226" cy="144" r="8" fill="#222"/>'
        '<ellipse cx="200" cy="174" rx="11" ry="8" fill="#222"/>'
        '<path d="M138 226c20 24 104 24 124 0 26 30 26 82-62 82s-88-52-62-82z" fill="{c}"/>'
        '<ellipse cx="200" cy="268" rx="34" ry="26" fill="{l}"/>'
    ),
    "box": (
        '<path d="M200 84l112 52v128l-112 52-112-52V136z" fill="{c}"/>'
        '<path d="M88 136l112 52v128L88 264z" fill="{d}"/><path d="M200 188l112-52-112-52-112 52z" fill="{l}"/>'
        '<path d="M144 110l112 52v40l-24-11v-29L120 121z" fill="#fff" opacity=".45"/>'
    ),
}
