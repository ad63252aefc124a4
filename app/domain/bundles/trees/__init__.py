"""The category trees of a bundle."""
