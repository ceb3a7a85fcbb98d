"""Pictures that people upload and everybody may see."""
