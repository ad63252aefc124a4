"""The demo shop's collections and pages."""

from __future__ import annotations

from typing import Any

COLLECTIONS: list[dict[str, Any]] = [
    {
        "seoName": "first-night-out",
        "name": "First night out",
        "description": "<p>All you need for one night in a field, and nothing you would carry home unused.</p>",
        "skus": ["TENT-02", "BAG-04", "MAT-01", "STOVE-01", "TORCH-01", "FLASK-05", "COOK-06"],
    },
    {
        "seoName": "rainy-day",
        "name": "A rainy day",
        "description": "<p>There is no bad weather here, only weather. These keep it on the outside.</p>",
        "skus": ["RAIN-01", "RAIN-02", "RAIN-04", "WELL-01", "WELL-03", "RUCK-09", "THROW-03"],
    },
    {
        "seoName": "made-by-hand",
        "name": "Made by hand",
        "description": "<p>Thrown, turned, forged or knitted by somebody whose name we know.</p>",
        "skus": ["MUG-01", "BOWL-02", "BOWL-05", "POLE-05", "HAT-02", "KNIFE-01", "TOOL-06", "LAMP-02"],
    },
    {
        "seoName": "small-people",
        "name": "For small people",
        "description": "<p>Grown-up quality in sizes that will not fit for long. Pass them on.</p>",
        "skus": ["RAIN-04", "FLEECE-03", "BASE-05", "BOOT-07", "WELL-03", "GLOVE-06", "BAG-05", "RUCK-08", "POLE-07"],
    },
    {
        "seoName": "long-table",
        "name": "The long table",
        "description": "<p>For the evening when more people come than you have chairs.</p>",
        "skus": [
            "BOWL-01",
            "BOWL-02",
            "BOWL-07",
            "PAN-03",
            "KNIFE-07",
            "LINEN-01",
            "CANDLE-05",
            "CANDLE-09",
            "CUSH-06",
        ],
    },
    {
        "seoName": "winter-list",
        "name": "The winter list",
        "description": "<p>Not out yet: we are still choosing.</p>",
        "skus": ["BAG-03", "MAT-04", "FLEECE-10"],
        "enabled": False,
    },
]

PAGES: list[dict[str, Any]] = [
    {
        "seoName": "about",
        "title": "About us",
        "metaDescription": "A small shop for hills, kitchens and gardens, run by eleven people and a spaniel.",
        "body": (
            "<p>We began with one wall of rucksacks and a kettle. The kettle stayed; the wall grew. Today eleven "
            "people choose, pack and mend what you see here, in an old dye works beside the river.</p>"
            "<h2>How we choose</h2><p>Nothing comes in that we would not carry up a hill or keep in our own kitchens. "
            "We ask who made it, whether it can be mended, and what becomes of it at the end. Then we use it for a "
            "season, and only then do we sell it.</p>"
            "<h2>Visit</h2><p>The shop is open from Tuesday to Saturday, nine to five. Dogs may come in and usually "
            "do.</p>"
        ),
    },
    {
        "seoName": "delivery",
        "title": "Delivery",
        "metaDescription": "What delivery costs, how long it takes, and where we send.",
        "body": (
            "<p>Orders that reach us by two in the afternoon leave the same day, from Monday to Friday.</p>"
            "<table><thead><tr><th>Service</th><th>Time</th><th>Cost</th></tr></thead><tbody>"
            "<tr><td>Standard</td><td>2 to 3 working days</td><td>£3.95, free from £60</td></tr>"
            "<tr><td>Next day</td><td>Next working day</td><td>£6.95</td></tr>"
            "<tr><td>Large things</td><td>By arrangement</td><td>£25</td></tr>"
            "<tr><td>Collect from the shop</td><td>Same day</td><td>Free</td></tr></tbody></table>"
            "<p>Benches, bell tents and the potting table come on a pallet. The driver rings the day before.</p>"
        ),
    },
    {
        "seoName": "returns",
        "title": "Returns",
        "metaDescription": "Send anything back within sixty days.",
        "body": (
            "<p>You have sixty days to change your mind. Try boots on carpet, put the tent up in the garden, sleep on "
            "the pillow: if it is not right, send it back and we refund what you paid.</p>"
            "<ol><li>Write your order number on a note and put it in the parcel.</li>"
            "<li>Use the label that came with it, or bring it to the shop.</li>"
            "<li>The refund goes out on the day we open the parcel.</li></ol>"
            "<p>Knives and axes need to come back in their sheaths. Candles that have been lit are yours.</p>"
        ),
    },
    {
        "seoName": "repairs",
        "title": "Repairs",
        "metaDescription": "Our bench mends zips, soles, poles and handles.",
        "body": (
            "<p>Most things that break can be mended, and most of those by us. The bench is behind the shop; bring the "
            "patient, or post it.</p><ul><li>Zips and sliders from £8</li><li>New soles for leather boots £65</li>"
            "<li>Tent poles, by the section, £6</li><li>A new haft for an axe £28</li>"
            "<li>Rewaxing a jacket £35</li></ul><p>It takes about two weeks, three in October.</p>"
        ),
    },
    {
        "seoName": "size-guide",
        "title": "Size guide",
        "metaDescription": "How our sizes measure, for coats, trousers, boots and gloves.",
        "body": (
            "<h2>Coats and jumpers</h2><p>Measure round the fullest part of the chest, over a shirt. S is 92 cm, "
            "M 100, L 108, XL 116 and XXL 124.</p><h2>Boots</h2><p>Try them in the afternoon, with the socks you will "
            "wear. When you stand on a slope facing down, your toes should not touch the front.</p>"
            "<h2>Gloves</h2><p>Round the knuckles without the thumb: S 19 cm, M 21, L 23, XL 25.</p>"
        ),
    },
    {
        "seoName": "care",
        "title": "Looking after things",
        "metaDescription": "How to wash down, wax cotton, season iron and oil wood.",
        "body": (
            "<h2>Down</h2><p>Wash it once a year with soap made for it, and dry it slowly with two tennis balls until "
            "no lump is left.</p><h2>Waxed cotton</h2><p>Sponge it cold. Warm the tin, rub the wax in, "
            "and hang the coat somewhere you do not mind.</p><h2>Cast iron</h2><p>Hot water, a brush, heat, a drop of "
            "oil. Soap is allowed, whatever you have heard.</p><h2>Wood</h2><p>Linseed oil in spring.</p>"
        ),
    },
    {
        "seoName": "contact",
        "title": "Contact",
        "metaDescription": "Write, ring or come in.",
        "body": (
            '<p>Write to <a href="mailto:hello@demo.test">hello@demo.test</a>: one of us reads it, and the same one '
            "answers. The telephone is beside the till, so if nobody picks it up, there is a queue.</p>"
        ),
    },
    {
        "seoName": "privacy",
        "title": "Privacy",
        "metaDescription": "What we keep about you and for how long.",
        "body": (
            "<p>We keep your address for as long as the law wants us to keep invoices, and what you searched for not "
            "at all. Nothing on this site tells another company that you were here.</p>"
        ),
    },
    {
        "seoName": "christmas-hours",
        "title": "Christmas hours",
        "body": "<p>To be written in December.</p>",
        "enabled": False,
    },
]
