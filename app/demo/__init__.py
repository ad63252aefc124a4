"""The demo shop: written for this project, made by the same bundle import that brings any shop in."""
