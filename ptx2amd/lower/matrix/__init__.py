"""Matrix instructions, in software and on the chips' matrix units."""
