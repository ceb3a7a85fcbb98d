// Codes of tickets: how people type them, what the list keeps of them, and the numbers of scans.

const ALPHABET = /^[0-9A-HJKMNP-TV-Z]{10}$/;
/** @type {Record<string, string>} */
const MISTAKES = { O: "0", I: "1", L: "1" };

/**
 * Return the code of a place as the service writes it, however it was typed; null if it is no such code.
 * @param {string} text
 */
export function parseCode(text) {
  if (text.length > 40) return null;
  const code = text.toUpperCase().replace(/[- \t\u00a0\u202f]/g, "").replace(/[OIL]/g, (letter) => MISTAKES[letter]);
  return ALPHABET.test(code) ? code : null;
}

/**
 * Return the hash of a code under which the list has its place: 12 bytes of SHA-256 in base64url.
 * @param {string} salt
 * @param {string} code
 */
export async function hashCode(salt, code) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(salt + code));
  const text = String.fromCharCode(...new Uint8Array(digest).subarray(0, 12));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_");
}

/**
 * Return the hashes that a scanned text can have: that of a ticket, and that of a place if it has the form of one.
 * @param {string} salt
 * @param {string} text
 */
export function hashScannedText(salt, text) {
  const codes = new Set([text.trim(), parseCode(text) ?? text.trim()]);
  return Promise.all([...codes].map((code) => hashCode(salt, code)));
}

/** Return a scanned text without halves of characters, for which the service would refuse all scans of a batch. @param {string} text */
export function repairText(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Return a new number of a scan, which is the same in each attempt to send it. */
export function createNonce() {
  return crypto.randomUUID();
}
