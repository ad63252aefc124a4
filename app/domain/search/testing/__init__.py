"""Test a search: what shoppers get for it, why, and what to do when that is not what they should get."""
