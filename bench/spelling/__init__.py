"""How well spellings are corrected, and how little harm that does."""
