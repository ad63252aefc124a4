"""Judgement lists: searches with products that people have rated, and how good the results are by these ratings."""
