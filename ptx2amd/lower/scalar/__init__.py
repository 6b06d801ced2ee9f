"""Instructions of one thread on registers."""
