"""What runs without a request: each job is a view without HTTP, called within the application's context."""
