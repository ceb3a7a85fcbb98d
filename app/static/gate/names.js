// The search by name: words in any order, each as a prefix, without accents.

/** @type {Record<string, string>} */
const UNDECOMPOSED = { ł: "l", ø: "o", đ: "d", ħ: "h", ı: "i", ß: "ss" };

/**
 * Return the words of a text in lower case without accents, one blank between them, as the service folds them. An
 * apostrophe ends a word, also a typographic one, so that each finds the others.
 * @param {string} text
 */
export function foldName(text) {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[łøđħıß]/g, (letter) => UNDECOMPOSED[letter])
    .replace(/[!-/:-@[-`{-~\s\u2018\u2019\u02bc]+/g, " ")
    .trim();
}

/**
 * Whether each word of a folded query begins a word of a folded name.
 * @param {string} name
 * @param {string[]} words
 */
export function matchesWords(name, words) {
  const text = ` ${name}`;
  return words.every((word) => text.includes(` ${word}`));
}
