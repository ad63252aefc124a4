"""The tools, one file each; `registry` finds them."""
