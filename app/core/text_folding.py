"""Text without case, accents and punctuation, in SQL: for keys and indexes that PostgreSQL keeps by itself."""

_ACCENTS = r"[\u0300-\u036f]"
_PUNCTUATION = r"[!-/:-@\[-`{-~\s]+"
_WHOLE, _PLAIN = "ŁØĐłøđħı", "lodlodhi"
# Letters that Unicode does not take apart into a base and an accent.


def folded_sql(expression: str) -> str:
    """An immutable expression: the words of the text in lower case without accents, one blank between them."""
    return f"btrim(regexp_replace({unaccented_sql(expression)}, '{_PUNCTUATION}', ' ', 'g'))"


def unaccented_sql(expression: str) -> str:
    """An immutable expression: the text in lower case without accents, its blanks and punctuation as they are."""
    apart = f"regexp_replace(lower(normalize({expression}, NFKD)), '{_ACCENTS}', '', 'g')"
    return f"replace(translate({apart}, '{_WHOLE}', '{_PLAIN}'), 'ß', 'ss')"
