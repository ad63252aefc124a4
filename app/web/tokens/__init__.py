"""Tokens that the shop signs, by which programs call it."""
