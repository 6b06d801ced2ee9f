"""What is known of a body. Analyses change nothing."""
