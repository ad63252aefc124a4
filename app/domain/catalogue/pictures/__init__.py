"""Pictures for products that have none, drawn from their kind and colour so that a shop looks like one."""

from __future__ import annotations

from app.domain.catalogue.pictures.drawing import (
    draw,
    drawn_picture,
    picture_path,
    shape_among,
    shape_of,
    shape_path,
)

__all__ = ["draw", "drawn_picture", "picture_path", "shape_among", "shape_of", "shape_path"]
