// The verdict on a scan: from the list of this device, or from the answer of the service.

import { getEntryDay } from "./entry_day.js";

/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Place} Place */

/** Refusals about which a person at the gate can do something; so it is where others of a party are still outside. */
const DOUBTS = new Set(["NOT_ON_LIST", "NOT_CLAIMED", "PARTY_TOO_SMALL", "NOT_INSIDE", "FAILED"]);

/** @param {string | null | undefined} text */
const toTime = (text) => (text ? Date.parse(text) : null);
/** @param {number | null | undefined} seconds */
const toMilliseconds = (seconds) => (seconds == null ? null : seconds * 1000);

/**
 * Return the verdict of the list on a place. `expected` has the places of its party that are still outside.
 * @param {Place | null} place
 * @param {{type: import("./types.js").TicketType | null, reentry: import("./types.js").Reentry, timezone: string, direction: "in" | "out", expected: Place[],
 *   count?: number, now: number}} context
 * @returns {Verdict}
 */
export function judgePlace(place, { type, reentry, timezone, direction, expected, count, now }) {
  if (!place) return build("NOT_ON_LIST", {});
  const [, kind, , name, , state, , admittedAt, gate, from, until, leftAt, lastEntry] = place;
  const ticketType = type?.name ?? null;
  const validFrom = toMilliseconds(from) ?? toTime(type?.validFrom);
  const validUntil = toMilliseconds(until) ?? toTime(type?.validUntil);
  const known = { name, ticketType, remaining: expected.length };
  if (direction === "out" && reentry !== "counted") return build("NO_REENTRY", known);
  if (state === "r") return build(kind === "t" ? "TICKET_ENDED" : "SLOT_REVOKED", known);
  if (state === "n") return build("NOT_CLAIMED", known);
  if (direction === "out") return build(state === "a" && leftAt == null ? "LEFT" : "NOT_INSIDE", known);
  const isParty = count !== undefined && expected.length > 0;
  const at = toMilliseconds(lastEntry ?? admittedAt);
  const isOtherDay = at != null && getEntryDay(at, timezone) !== getEntryDay(now, timezone);
  const mayReturn = { none: false, daily: isOtherDay, counted: leftAt != null, free: true }[reentry];
  const isBack = state === "a" && mayReturn;
  if (state === "a" && !isBack && !isParty)
    return build("ALREADY_ADMITTED", { ...known, at, gate });
  if ((validFrom != null && now < validFrom) || (validUntil != null && now >= validUntil))
    return build("WRONG_DAY", { ...known, validFrom, validUntil });
  if (count !== undefined && count > Math.max(expected.length, 1)) return build("PARTY_TOO_SMALL", known);
  if (isParty) return build("ADMITTED", { ...known, admitted: count, remaining: expected.length - count });
  const others = expected.filter((other) => other[0] !== place[0]);
  return build("ADMITTED", { ...known, admitted: 1, remaining: others.length, reentry: isBack });
}

/** Return the verdict that a scan which this device keeps gives about the next one. @param {import("./types.js").Scan} scan @returns {Verdict} */
export function judgeRepeat(scan) {
  const { name, ticketType } = scan.verdict;
  return build("ALREADY_ADMITTED", { name, ticketType, at: Date.parse(scan.occurredAt), gate: scan.gate });
}

/**
 * Return the verdict of the service: of its answer to an admission.
 * @param {{ok: boolean, code: string, message: string, data: Record<string, any>}} answer
 * @returns {Verdict}
 */
export function judgeAnswer({ ok, code, message, data }) {
  const known = {
    confirmed: true,
    name: data.name,
    ticketType: data.ticketType,
    remaining: data.remaining ?? 0,
    gate: data.gate,
    by: data.by,
    message,
  };
  if (ok) return build(data.direction === "out" ? "LEFT" : "ADMITTED", { ...known, admitted: data.admitted, reentry: data.reentry });
  const at = toTime(data.admittedAt ?? data.revokedAt);
  const { eventName } = data;
  // A text that no ticket can have: a long address, the lines of a business card.
  const reason = code === "VALIDATION_FAILED" ? "TICKET_NOT_FOUND" : data.status === "refunded" ? "TICKET_REFUNDED" : code;
  return build(reason, { ...known, at, eventName, validFrom: toTime(data.validFrom), validUntil: toTime(data.validUntil) });
}

/** @param {string} code @param {Partial<Verdict>} details @returns {Verdict} */
function build(code, details) {
  const isGood = code === "ADMITTED" || code === "LEFT";
  const isDoubt = DOUBTS.has(code) || (code === "ALREADY_ADMITTED" && Boolean(details.remaining));
  return { confirmed: false, ...details, code, result: isGood ? "yes" : isDoubt ? "look" : "no" };
}
