"""What machines share through Redis: events that wait to be counted, and rate limits."""
