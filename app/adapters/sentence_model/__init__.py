"""The sentence model of ranking by meaning: its files read without any code of the package that carries them."""

from app.adapters.sentence_model.model import installed_model

__all__ = ["installed_model"]
