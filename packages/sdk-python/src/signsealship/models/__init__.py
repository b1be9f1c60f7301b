"""The service's answers, and its arguments."""
