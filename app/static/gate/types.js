// Types of the gate page, for the checker. Nothing here runs.

/**
 * A place of the list as the service sends it: id, kind (`a` slot, `t` ticket), hash of the code, name, index of the
 * ticket type, state (`c` expected, `a` admitted, `r` revoked, `n` not claimed), party, admitted at, gate, valid from,
 * valid until, left at; where a ticket enters once a day, also the last entry. Times are seconds.
 * @typedef {[string, "a" | "t", string, string | null, number, "c" | "a" | "r" | "n", string | null, number | null,
 *   string | null, number | null, number | null, number | null, (number | null)?]} Place
 */

/**
 * @typedef {object} TicketType
 * @property {string} id
 * @property {string} name
 * @property {string | null} validFrom
 * @property {string | null} validUntil
 */

/**
 * What the page knows about the list besides its places. `updatedAt` is in milliseconds of this device,
 * whose clock is `clockError` milliseconds ahead of that of the service.
 * @typedef {object} ListInfo
 * @property {string} position
 * @property {string} salt
 * @property {number} updatedAt
 * @property {number} [clockError]
 * @property {{id: string, name: string, startsAt: string, timezone: string, reentry: Reentry}} event
 * @property {TicketType[]} ticketTypes
 */

/** How often a ticket enters: once, once a day, after it left, or always. @typedef {"none" | "daily" | "counted" | "free"} Reentry */

/**
 * What the page shows after a scan. Times are milliseconds. `code` is ADMITTED, LEFT or the code of an error.
 * @typedef {object} Verdict
 * @property {"yes" | "no" | "look"} result
 * @property {string} code
 * @property {boolean} confirmed
 * @property {string | null} [name]
 * @property {string | null} [ticketType]
 * @property {number} [admitted]
 * @property {number} [remaining]
 * @property {boolean} [reentry]
 * @property {number | null} [at]
 * @property {string | null} [gate]
 * @property {string | null} [by]
 * @property {number | null} [validFrom]
 * @property {number | null} [validUntil]
 * @property {string | null} [eventName]
 * @property {string} [message]
 * @property {boolean} [isTraining]
 */

/**
 * What is scanned: the text of a code, or a place that was found by name. `count` is the number of people of a party.
 * @typedef {{code?: string, placeId?: string, count?: number}} Target
 */

/**
 * A scan that this device keeps: until the service has answered, and then for the time in which it can be undone.
 * `before` has the places as they were before it.
 * @typedef {object} Scan
 * @property {string} nonce
 * @property {string} eventId
 * @property {string} [code]
 * @property {string} [placeId]
 * @property {number} [count]
 * @property {"in" | "out"} direction
 * @property {string} gate
 * @property {string} occurredAt
 * @property {Verdict} verdict
 * @property {Place[]} before
 * @property {boolean} attempted
 * @property {"waiting" | "sent" | "refused"} state
 * @property {string} [admissionId]
 * @property {string} [conflict]
 * @property {"waiting" | "done" | "failed"} [undo]
 */

/**
 * @typedef {object} Settings
 * @property {string} gate
 * @property {"left" | "right"} hand
 * @property {boolean} sound
 * @property {boolean} torch
 * @property {"in" | "out"} direction
 */

export {};
