"""The products of a bundle: rows read and checked one by one, compared and written by the batch."""
