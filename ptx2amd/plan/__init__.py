"""Planning: what is decided about a kernel before it is lowered."""
