// The day of an entry, where a ticket enters once a day.

const DAY_BEGINS = 5 * 60 * 60 * 1000;

/** Return the day of an entry in a timezone; it begins at 5 in the morning, as for the service. @param {number} moment @param {string} timeZone */
export function getEntryDay(moment, timeZone) {
  // Swedish writes times as 2026-12-04 22:00:00.
  const local = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }).format(moment);
  return new Date(Date.parse(`${local.replace(" ", "T")}Z`) - DAY_BEGINS).toISOString().slice(0, 10);
}
