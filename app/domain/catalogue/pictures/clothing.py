"""Outlines of things to wear. A canvas of 400 by 400; {c} is the main colour, {d} darker, {l} lighter."""

from __future__ import annotations

SHAPES = {
    "shirt": (
        '<path d="M156 92 96 124l-28 66 44 18 12-24v128h152V184l12 24 44-18-28-66-60-32c-8 18-24 28-44 '
        '28s-36-10-44-28z" fill="{c}"/>'
        '<path d="M156 92c8 18 24 28 44 28s36-10 44-28l14 8c-10 26-30 40-58 40s-48-14-58-40z" fill="{d}"/>'
    ),
    "jacket": (
        '<path d="M152 88 92 122 68 296h46l14-96v112h144V200l14 96h46l-24-174-60-34-48 26z" fill="{c}"/>'
        '<path d="M152 88l48 40 48-40 12 8-44 50v166h-32V146l-44-50z" fill="{d}"/>'
        '<path d="M200 146v166" stroke="{l}" stroke-width="6"/>'
        '<path d="M140 246h34M226 246h34" stroke="{d}" stroke-width="8" stroke-linecap="round"/>'
    ),
    "jumper": (
        '<path d="M154 94 98 124 72 286h44l14-84v106h140V202l14 84h44l-26-162-56-30c-12 14-26 20-46 '
        '20s-34-6-46-20z" fill="{c}"/>'
        '<path d="M130 292h140v18H130zM72 272h46l-2 14H70zM282 272h46l2 14h-46z" fill="{d}"/>'
        '<path d="M154 94c12 14 26 20 46 20s34-6 46-20l10 5c-12 20-30 31-56 31s-44-11-56-31z" fill="{l}"/>'
    ),
    "trousers": (
        '<path d="M140 84h120l16 228h-54l-22-150-22 150h-54z" fill="{c}"/>'
        '<path d="M140 84h120l2 24H138z" fill="{d}"/><path d="M200 108v54" stroke="{d}" stroke-width="5"/>'
        '<path d="M150 112c4 20-4 30-14 34M250 112c-4 20 4 30 14 34" fill="none" stroke="{l}" stroke-width="5"/>'
    ),
    "shorts": (
        '<path d="M124 116h152l22 152h-84l-14-78-14 78h-84z" fill="{c}"/>'
        '<path d="M124 116h152l3 24H121z" fill="{d}"/><path d="M200 140v50" stroke="{d}" stroke-width="5"/>'
    ),
    "dress": (
        '<path d="M166 82v28l-20 62 18 16-54 122h180l-54-122 18-16-20-62V82h-14c0 16-8 24-20 24s-20-8-20-24z" '
        'fill="{c}"/><path d="M164 178h72l4 16h-80z" fill="{d}"/>'
        '<path d="M190 200l-30 110M210 200l30 110" stroke="{l}" stroke-width="4"/>'
    ),
    "skirt": (
        '<path d="M148 118h104l52 172H96z" fill="{c}"/><path d="M148 118h104l6 20H142z" fill="{d}"/>'
        '<path d="M176 140l-24 150M200 140v150M224 140l24 150" stroke="{l}" stroke-width="4"/>'
    ),
    "shoe": (
        '<path d="M84 178c20 12 44 4 60-22l30 6c22 36 56 52 104 58 26 4 40 18 40 44H84z" fill="{c}"/>'
        '<path d="M76 264h246c2 16-6 24-20 24H92c-12 0-18-8-16-24z" fill="{l}"/>'
        '<path d="M174 190l18-16M194 206l18-16M216 218l16-16" stroke="{d}" stroke-width="8" '
        'stroke-linecap="round"/><path d="M84 178c20 12 44 4 60-22l10 2c-12 40-40 60-70 58z" fill="{d}"/>'
    ),
    "boot": (
        '<path d="M130 84h96v104c10 20 40 30 66 40 18 8 26 18 26 40H130z" fill="{c}"/>'
        '<path d="M122 268h200v22c0 8-4 14-12 14H134c-8 0-12-6-12-14z" fill="{d}"/>'
        '<path d="M130 84h96v26h-96z" fill="{l}"/>'
        '<path d="M226 136h-26M226 158h-26M230 180h-28M244 200l-20 14" stroke="{d}" stroke-width="8" '
        'stroke-linecap="round"/>'
    ),
    "sandal": (
        '<path d="M200 84c46 0 70 40 62 100-6 44-8 124-62 124s-56-80-62-124c-8-60 16-100 62-100z" fill="{l}"/>'
        '<path d="M200 128c-20 30-52 48-62 62 2 18 4 30 6 38 20-30 40-46 56-62 16 16 36 32 56 62 2-8 4-20 '
        '6-38-10-14-42-32-62-62z" fill="{c}"/><circle cx="200" cy="130" r="10" fill="{d}"/>'
    ),
    "hat": (
        '<path d="M120 222c0-70 30-116 80-116s80 46 80 116z" fill="{c}"/>'
        '<path d="M112 214h176c10 0 16 8 16 20s-6 20-16 20H112c-10 0-16-8-16-20s6-20 16-20z" fill="{d}"/>'
        '<circle cx="200" cy="96" r="20" fill="{l}"/>'
    ),
    "sock": (
        '<path d="M156 84h76v110c0 20 18 32 44 46 34 18 30 68-12 68-50 0-108-24-108-96z" fill="{c}"/>'
        '<path d="M156 84h76v26h-76z" fill="{d}"/>'
        '<path d="M248 226c26 14 40 30 34 58-12-22-34-34-34-58z" fill="{l}"/>'
        '<path d="M156 136h76M156 152h76" stroke="{l}" stroke-width="6"/>'
    ),
    "glove": (
        '<path d="M148 304V214l-32-40c-10-14 8-30 22-18l26 24V112c0-18 24-18 24 0v-14c0-18 26-18 26 0v14c0-16 '
        '24-16 24 2v18c0-14 22-14 22 2v86c0 30-10 44-10 84z" fill="{c}"/>'
        '<path d="M142 276h114v34H142z" fill="{d}"/>'
    ),
    "scarf": (
        '<path d="M128 108c30 30 114 30 144 0l16 34c-24 24-60 34-88 34s-64-10-88-34z" fill="{c}"/>'
        '<path d="M214 160l52-8 10 128h-56z" fill="{d}"/><path d="M170 166l50-4-14 116h-52z" fill="{c}"/>'
        '<path d="M156 278v22M170 278v22M184 278v22M198 278v22M230 280v22M246 280v22M262 280v22" stroke="{l}" '
        'stroke-width="6"/><path d="M160 238h48M228 232h44" stroke="{l}" stroke-width="8"/>'
    ),
    "bag": (
        '<path d="M150 160c0-84 100-84 100 0" fill="none" stroke="{d}" stroke-width="14"/>'
        '<path d="M104 152h192l20 152H84z" fill="{c}"/><path d="M100 182h200l4 26H96z" fill="{d}"/>'
        '<rect x="184" y="182" width="32" height="44" rx="6" fill="{l}"/>'
    ),
    "backpack": (
        '<path d="M166 96c0-32 68-32 68 0" fill="none" stroke="{d}" stroke-width="12"/>'
        '<path d="M116 168c0-56 36-80 84-80s84 24 84 80v116c0 14-8 24-24 24H140c-16 0-24-10-24-24z" fill="{c}"/>'
        '<rect x="142" y="212" width="116" height="76" rx="14" fill="{d}"/>'
        '<path d="M142 236h116" stroke="{l}" stroke-width="6"/>'
        '<path d="M146 150h108" stroke="{l}" stroke-width="8" stroke-linecap="round"/>'
        '<path d="M106 190h14v84h-14zM280 190h14v84h-14z" fill="{d}"/>'
    ),
    "watch": (
        '<path d="M166 132l8-60h52l8 60zM166 260l8 60h52l8-60z" fill="{d}"/>'
        '<circle cx="200" cy="196" r="76" fill="{c}"/><circle cx="200" cy="196" r="58" fill="#fff"/>'
        '<path d="M200 156v42l28 18" fill="none" stroke="{d}" stroke-width="8" stroke-linecap="round"/>'
        '<rect x="274" y="186" width="14" height="20" rx="4" fill="{d}"/>'
    ),
    "sunglasses": (
        '<path d="M72 164h256" stroke="{d}" stroke-width="14" stroke-linecap="round"/>'
        '<path d="M80 168h104c0 60-18 86-52 86s-52-26-52-86zM216 168h104c0 60-18 86-52 86s-52-26-52-86z" '
        'fill="{c}"/>'
        '<path d="M98 182h40l-24 52c-10-12-14-30-16-52zM234 182h40l-24 52c-10-12-14-30-16-52z" fill="{l}"/>'
    ),
    "jewellery": (
        '<path d="M106 100c10 90 50 130 94 130s84-40 94-130" fill="none" stroke="{d}" stroke-width="8" '
        'stroke-dasharray="2 13" stroke-linecap="round"/><path d="M200 226l34 34-34 50-34-50z" fill="{c}"/>'
        '<path d="M200 226l34 34h-68z" fill="{l}"/>'
    ),
    "belt": (
        '<path d="M68 176h264v48H68z" fill="{c}"/><path d="M68 188h264M68 212h264" stroke="{l}" stroke-width="3"/>'
        '<rect x="152" y="158" width="96" height="84" rx="10" fill="none" stroke="{d}" stroke-width="14"/>'
        '<path d="M200 200h52" stroke="{d}" stroke-width="10"/><circle cx="286" cy="200" r="5" fill="{d}"/>'
        '<circle cx="308" cy="200" r="5" fill="{d}"/>'
    ),
    "tie": (
        '<path d="M176 80h48l-10 40 28 132-42 60-42-60 28-132z" fill="{c}"/>'
        '<path d="M176 80h48l-10 40h-28z" fill="{d}"/>'
        '<path d="M178 160l46 34M170 200l62 46M164 244l40 30" stroke="{l}" stroke-width="8"/>'
    ),
    "wallet": (
        '<rect x="82" y="128" width="236" height="156" rx="18" fill="{c}"/>'
        '<path d="M82 150h236" stroke="{d}" stroke-width="8"/>'
        '<path d="M250 186h68v46h-68c-30 0-30-46 0-46z" fill="{d}"/><circle cx="258" cy="209" r="9" fill="{l}"/>'
    ),
}
