"""The demo shop: a bundle like any other shop's, and the command's use case that imports it."""
