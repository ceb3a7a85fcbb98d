// Texts of the page in its language, dates of the event, and elements by id.

/** @type {DOMStringMap} */
let texts = {};
/** Of the event; without a list that of this device. @type {string | undefined} */
let timezone;

/** Read the texts that the page has, in its language. @param {HTMLElement} element */
export function readTexts(element) {
  texts = element.dataset;
}

/** @param {string} name */
export function setTimezone(name) {
  timezone = name;
}

/** Return a text with its values; `ALREADY_ADMITTED` is that of `alreadyAdmitted`. @param {string} key @param {Record<string, unknown>} [values] */
export function say(key, values = {}) {
  const name = /^[A-Z_]+$/.test(key) ? key.toLowerCase() : key;
  const text = texts[name.replace(/[_-](\w)/g, (_, letter) => letter.toUpperCase())];
  return (text ?? key).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** Return a time of the event: the clock alone if it is today. @param {number | null | undefined} at milliseconds */
export function formatTime(at) {
  if (at == null) return "";
  // Namibia writes the day before the month; plain English would be American.
  const locale = document.documentElement.lang.replace(/^en$/, "en-GB");
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options, time = at) => new Intl.DateTimeFormat(locale, { timeZone: timezone, ...options }).format(time);
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { weekday: "short", day: "numeric", month: "long" };
  const clock = format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return format(day) === format(day, Date.now()) ? clock : `${format(day)}, ${clock}`;
}

/** Return an element of the page. @param {string} id @returns {any} */
export function get(id) {
  return document.getElementById(id);
}

/**
 * Return a new element with texts and elements in it.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} properties
 * @param {(Node | string)[]} children
 */
export function create(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
