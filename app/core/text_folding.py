"""SQL expressions for text without case, accents and punctuation, for generated columns and indexes."""

_ACCENTS = r"[\u0300-\u036f]"
_PUNCTUATION = r"[!-/:-@\[-`{-~\s]+"
# Letters that Unicode does not decompose into a base letter and an accent.
_UNDECOMPOSED, _BASE_LETTERS = "ŁØĐłøđħı", "lodlodhi"


def folded_sql(expression: str) -> str:
    """Return an immutable expression: the words of the text in lower case without accents, one blank between them."""
    return f"btrim(regexp_replace({unaccented_sql(expression)}, '{_PUNCTUATION}', ' ', 'g'))"


def unaccented_sql(expression: str) -> str:
    """Return an immutable expression: the text in lower case without accents; blanks and punctuation do not change."""
    decomposed = f"regexp_replace(lower(normalize({expression}, NFKD)), '{_ACCENTS}', '', 'g')"
    return f"replace(translate({decomposed}, '{_UNDECOMPOSED}', '{_BASE_LETTERS}'), 'ß', 'ss')"
