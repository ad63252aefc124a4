"""Themes of the storefront. Every folder in here with a `theme.json` is one; README says how a shop adds its own."""
