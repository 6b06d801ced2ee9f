"""Pages for people that need no other file: what they have in common."""
