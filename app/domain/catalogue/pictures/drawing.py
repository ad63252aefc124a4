"""Draws a picture of a kind of product in a colour."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from app.domain.catalogue.pictures import clothing, electronics, home
from app.domain.shared.problems import NotFound

SHAPES = {**electronics.SHAPES, **clothing.SHAPES, **home.SHAPES}
DRAWN_ANEW = 1  # Raised when a drawing changes, so that browsers fetch pictures again.
PLAIN = "7d8a86"  # The colour of a product whose colour is not known.
GROUNDS = ("#f3f0e9", "#eaf0ee", "#f2ecec", "#ebeef4", "#f1f1ea", "#eef0eb")  # What stands behind a product.

# The first word of a kind that is here, read from its end, says what is drawn; two words that mean something of
# their own are joined by a hyphen.
WORDS = {
    "laptop": "laptop laptops notebook computer computers",
    "monitor": "monitor monitors television televisions tv screen display displays",
    "desktop": "desktop desktops workstation workstations server servers fan fans supply supplies",
    "tablet": "tablet tablets reader readers",
    "phone": "phone phones smartphone smartphones pouch cover covers case cases gps navigation",
    "keyboard": "keyboard keyboards calculator calculators",
    "mouse": "mouse mice peripherals",
    "headphones": "headphones headset headsets earphones",
    "speaker": "speaker speakers radio radios player players audio",
    "camera": "photo camera cameras lens lenses binoculars",
    "printer": "printer printers scanner scanners printing",
    "cartridge": "cartridge cartridges toner drum drums ribbons ink",
    "cable": "cable cables lead leads adapter adapters charger chargers cords",
    "drive": "drive drives storage raid nas disk disks media optical usb",
    "chip": "chip processor processors memory motherboard motherboards card cards graphics software licences",
    "network": "network router routers wireless switch switches transceivers hub hubs racks cabinets networking",
    "projector": "projector projectors",
    "controller": "controller controllers gaming game games",
    "battery": "battery batteries ups power bank",
    "shirt": "shirt shirts tshirt tshirts top tops tee tees polo base layer layers kurta kurtas kurtis tunics vest",
    "jacket": "jacket jackets coat coats waterproof waterproofs blazer blazers suit suits gilet waistcoat outerwear",
    "jumper": "jumper jumpers sweater sweaters sweatshirt sweatshirts fleece fleeces hoodie hoodies midlayer knitwear",
    "trousers": "trousers jeans pants leggings tights jeggings churidar salwar tracksuits patiala capris overtrousers",
    "shorts": "shorts swimwear rompers",
    "dress": "dress dresses saree sarees jumpsuit lehenga",
    "skirt": "skirt skirts",
    "shoe": "shoe shoes trainer trainers footwear flats heels slipper slippers",
    "boot": "boot boots booties wellies wellingtons",
    "sandal": "sandal sandals flops flip",
    "hat": "hat hats cap caps beanie beanies headband headwear",
    "sock": "sock socks stockings gaiters",
    "glove": "glove gloves mittens wristbands mitts",
    "scarf": "scarf scarves muffler mufflers stole stoles dupatta throw throws",
    "bag": "bag bags handbag handbags clutches tote holdall luggage duffel dry",
    "backpack": "backpack backpacks rucksack rucksacks daypack daypacks pack packs",
    "watch": "watch watches tracker trackers",
    "sunglasses": "sunglasses glasses goggles eyewear",
    "jewellery": "jewellery necklace bangle bracelet earrings pendant ring chains cufflinks",
    "belt": "belt belts suspenders",
    "tie": "tie ties",
    "wallet": "wallet wallets purse",
    "tent": "tent tents tarp tarps shelter shelters camping",
    "sleepingbag": "sleeping sleeping-bag sleeping-bags quilt quilts duvet bedding",
    "mat": "mat mats rug rugs mattress pad",
    "stove": "stove stoves cooker burner",
    "bottle": "bottle bottles flask flasks hydration vase vases jug carafe",
    "mug": "mug mugs cup cups tableware glassware drinkware",
    "bowl": "bowl bowls plate plates dish dishes serveware",
    "pan": "pan pans pot pots cookware kitchen casserole skillet",
    "knife": "knife knives cutlery multitool",
    "lamp": "lamp lamps light lights lighting lampshade",
    "torch": "torch torches headtorch headtorches headlamp lantern lanterns",
    "candle": "candle candles fragrance diffuser",
    "cushion": "cushion cushions pillow pillows",
    "blanket": "blanket blankets towel towels linen textiles bath",
    "chair": "chair chairs stool stools bench seating seat",
    "hammock": "hammock hammocks",
    "table": "table tables desk shelf shelves furniture",
    "basket": "basket baskets organiser hamper laundry picnic",
    "plant": "plant plants planter planters seeds garden gardening",
    "tool": "tool tools axe spade trowel hardware household",
    "bike": "bike bikes cycling bicycle",
    "rope": "rope ropes climbing harness carabiner",
    "poles": "pole poles walking trekking",
    "book": "book books map maps guide guides stationery paper notebooks labels journal",
    "clock": "clock clocks thermometer compass compasses",
    "toy": "toy toys",
}
_SHAPE_OF_WORD = {word: shape for shape, words in WORDS.items() for word in words.split()}
_NAME = re.compile(r"(?P<colour>[0-9a-f]{6})-(?P<ground>[0-9])", re.ASCII)
_AFTER = re.compile(r" (?:for|with|and accessories)\b")  # "Cases for phones" are cases.


def shape_of(kind: str) -> str:
    """The name of the outline for a kind ("Walking boots" is a boot); `box` for what nothing fits."""
    words = re.findall(r"[a-z]+", _AFTER.split(kind.casefold())[0])
    pairs = ["", *(f"{first}-{second}" for first, second in pairwise(words))]
    endings = (name for pair, word in zip(reversed(pairs), reversed(words), strict=False) for name in (pair, word))
    return next((_SHAPE_OF_WORD[name] for name in endings if name in _SHAPE_OF_WORD), "box")


def shape_among(kinds: Iterable[str]) -> str:
    """The outline of the first kind that has one of its own."""
    return next((shape for kind in kinds if (shape := shape_of(kind)) != "box"), "box")


def picture_path(kind: str, colour: str | None, number: int) -> str:
    """The path of a product's drawing: `colour` is `#rrggbb`, `number` tells products apart."""
    return shape_path(shape_of(kind), colour, number)


def shape_path(shape: str, colour: str | None, number: int) -> str:
    tint = (colour or f"#{PLAIN}").removeprefix("#")
    return f"/picture/{shape}/{tint}-{number % len(GROUNDS)}.svg?v={DRAWN_ANEW}"


def drawn_picture(shape: str, name: str) -> str:
    """The drawing that a path of `picture_path` names. Raises NotFound for anything else."""
    found = _NAME.fullmatch(name)
    if shape not in SHAPES or found is None:
        raise NotFound("There is no such picture.")
    return draw(shape, found["colour"], int(found["ground"]))


@lru_cache(maxsize=512)
def draw(shape: str, colour: str, ground: int) -> str:
    """An SVG of 400 by 400. `colour` is six hexadecimal digits. Raises KeyError for an unknown shape."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
    main = _softened((red, green, blue))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400">'
        f'<rect width="400" height="400" fill="{GROUNDS[ground % len(GROUNDS)]}"/>'
        '<ellipse cx="200" cy="318" rx="132" ry="14" fill="#1c2420" opacity=".1"/>'
        + SHAPES[shape].format(c=_hex(main), d=_hex(_mixed(main, 0, 0.34)), l=_hex(_mixed(main, 255, 0.48)))
        + "</svg>"
    )


def _softened(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Pure screen colours look like no dye, and white on a pale ground like nothing: both move to grey, the purest
    the farthest."""
    purity = (max(colour) - min(colour)) / 255
    return _mixed(colour, 128, 0.26 if min(colour) > 225 else 0.12 + 0.3 * purity)


def _mixed(colour: tuple[int, int, int], with_grey: int, share: float) -> tuple[int, int, int]:
    red, green, blue = (round(part + (with_grey - part) * share) for part in colour)
    return red, green, blue


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
