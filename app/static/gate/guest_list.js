// The list of places on this device: found by the hash of a code, by party and by name, and counted.

import { hashScannedText } from "./codes.js";
import { getEntryDay } from "./entry_day.js";
import { foldName, matchesWords } from "./names.js";

/** @typedef {import("./types.js").Place} Place */
/** @typedef {import("./types.js").ListInfo} ListInfo */

const ID = 0, HASH = 2, NAME = 3, TYPE = 4, STATE = 5, PARTY = 6, ADMITTED_AT = 7, GATE = 8, LEFT_AT = 11, LAST_ENTRY = 12;
const MAX_RESULTS = 30;

/** @param {Place} place */
const isValid = (place) => place[STATE] !== "r" && place[STATE] !== "n";

export class GuestList {
  /** @param {ListInfo | null} info @param {Place[]} places */
  constructor(info, places) {
    this.info = info;
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {Map<string, string>} */
    this.byHash = new Map();
    /** @type {Map<string, Set<string>>} */
    this.parties = new Map();
    /** @type {Map<string, string>} */
    this.foldedNames = new Map();
    /** How many places may come in or have: neither taken back nor cancelled. */
    this.size = 0;
    this.put(places);
  }

  /** Add places or replace those with the same id. @param {Place[]} places */
  put(places) {
    for (const place of places) {
      const old = this.places.get(place[ID]);
      if (old) this.forget(old);
      this.places.set(place[ID], place);
      if (isValid(place)) this.size += 1;
      if (place[HASH]) this.byHash.set(place[HASH], place[ID]);
      const party = place[PARTY];
      if (party) this.parties.set(party, (this.parties.get(party) ?? new Set()).add(place[ID]));
    }
  }

  /** @param {string[]} ids */
  remove(ids) {
    for (const id of ids) {
      const place = this.places.get(id);
      if (place) this.forget(place);
    }
  }

  /** @param {Place} place */
  forget(place) {
    if (this.places.delete(place[ID]) && isValid(place)) this.size -= 1;
    if (this.byHash.get(place[HASH]) === place[ID]) this.byHash.delete(place[HASH]);
    this.foldedNames.delete(place[ID]);
    if (place[PARTY]) this.parties.get(place[PARTY])?.delete(place[ID]);
  }

  /** Return the place of a scanned text or of an id; null if the list has none. @param {import("./types.js").Target} target */
  async find(target) {
    if (target.placeId) return this.places.get(target.placeId) ?? null;
    if (!this.info || !target.code) return null;
    for (const hash of await hashScannedText(this.info.salt, target.code)) {
      const id = this.byHash.get(hash);
      if (id) return this.places.get(id) ?? null;
    }
    return null;
  }

  /** Return the places of a place's party that are still expected, by id; without a party the place itself. @param {Place} place @param {number} now */
  listExpected(place, now) {
    const ids = place[PARTY] ? [...(this.parties.get(place[PARTY]) ?? [])].sort() : [place[ID]];
    return ids.map((id) => /** @type {Place} */ (this.places.get(id))).filter((other) => this.isExpected(other, now));
  }

  /** Whether nobody came in with a place, or where a ticket enters once a day, not today. @param {Place} place @param {number} now */
  isExpected(place, now) {
    if (place[STATE] !== "a" || this.info?.event.reentry !== "daily") return place[STATE] === "c";
    const [day, today] = [(place[LAST_ENTRY] ?? place[ADMITTED_AT] ?? 0) * 1000, now].map((at) => getEntryDay(at, this.info?.event.timezone ?? "UTC"));
    return day !== today;
  }

  /** Return the places with a name that has these words. @param {string} query */
  search(query) {
    const words = foldName(query).split(" ").filter(Boolean);
    /** @type {Place[]} */
    const results = [];
    if (!words.length) return results;
    for (const place of this.places.values()) {
      if (!place[NAME]) continue;
      let name = this.foldedNames.get(place[ID]);
      if (name === undefined) this.foldedNames.set(place[ID], (name = foldName(place[NAME] ?? "")));
      if (matchesWords(name, words) && results.push(place) === MAX_RESULTS) break;
    }
    return results;
  }

  /** @param {Place} place */
  getTicketType(place) {
    return this.info?.ticketTypes[place[TYPE]] ?? null;
  }

  /** Return the places as they are after a scan at `at`, in seconds. @param {Place[]} places @param {"in" | "out"} direction @param {string} gate @param {number} at */
  static scanned(places, direction, gate, at) {
    return places.map((place) => {
      const changed = /** @type {Place} */ ([...place]);
      if (direction === "out") changed[LEFT_AT] = at;
      else {
        changed[STATE] = "a";
        changed[ADMITTED_AT] ??= at;
        changed[GATE] ??= gate || null;
        changed[LEFT_AT] = null;
        changed[LAST_ENTRY] = Math.max(at, place[LAST_ENTRY] ?? 0);
      }
      return changed;
    });
  }

  /** Return how many of each ticket type and at each gate were admitted; of the types also how many have a ticket. */
  count() {
    /** @type {Map<string, {admitted: number, expected: number}>} */
    const types = new Map((this.info?.ticketTypes ?? []).map((type) => [type.name, { admitted: 0, expected: 0 }]));
    /** @type {Map<string, number>} */
    const gates = new Map();
    for (const place of this.places.values()) {
      const counts = types.get(this.getTicketType(place)?.name ?? "");
      if (!counts || !isValid(place)) continue;
      counts.expected += 1;
      if (place[STATE] !== "a") continue;
      counts.admitted += 1;
      const gate = place[GATE] ?? "";
      gates.set(gate, (gates.get(gate) ?? 0) + 1);
    }
    return { types, gates };
  }
}
