"""What the service answers, and what it is given."""
