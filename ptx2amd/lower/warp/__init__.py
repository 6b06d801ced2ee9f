"""Operations between the lanes of a warp, and barriers."""
