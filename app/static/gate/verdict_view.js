// The verdict, as large as the screen: colour, word, shape and sound, then who it is or why not.

import { signal } from "./sounds.js";
import { formatTime, get, say } from "./texts.js";

/** @typedef {import("./types.js").Verdict} Verdict */

const YES_MILLISECONDS = 4000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Show a verdict. `actions.admit` admits more of the party, `actions.allow` somebody who is not on the list,
 * `actions.undo` takes the scan back.
 * @param {Verdict} verdict
 * @param {{isAudible: boolean, isDaily: boolean, admit?: (count: number) => void, allow?: () => void, undo?: () => void}} actions
 */
export function showVerdict(verdict, { isAudible, isDaily, admit, allow, undo }) {
  clearTimeout(timer);
  const hasParty = ["ADMITTED", "ALREADY_ADMITTED", "PARTY_TOO_SMALL"].includes(verdict.code) && (isDaily || !verdict.reentry);
  const more = hasParty ? (verdict.remaining ?? 0) : 0;
  get("verdict").dataset.result = verdict.result;
  get("verdict-word").textContent = verdict.code === "LEFT" ? say("wordLeft") : say(`word-${verdict.result}`);
  get("verdict-name").textContent = verdict.name ?? "";
  get("verdict-type").textContent = describeType(verdict);
  get("verdict-reason").textContent = describeReason(verdict);
  get("verdict-where").textContent = describePlace(verdict);
  get("verdict-mark").hidden = verdict.isTraining || verdict.confirmed || verdict.result !== "yes";
  get("verdict-training").hidden = !verdict.isTraining;
  setParty(admit ? more : 0, admit);
  setAction("verdict-allow", allow);
  setAction("verdict-undo", undo);
  if (!get("verdict").open) get("verdict").showModal();
  get("verdict-next").focus({ preventScroll: true });
  signal(verdict.result, isAudible);
  if (verdict.result === "yes" && !more) timer = setTimeout(hideVerdict, YES_MILLISECONDS);
}

export function hideVerdict() {
  clearTimeout(timer);
  get("verdict").close();
}

/** @param {Verdict} verdict */
function describeType({ ticketType, admitted }) {
  const people = admitted && admitted > 1 ? say("people", { count: admitted }) : "";
  return [ticketType, people].filter(Boolean).join(" · ");
}

/** @param {Verdict} verdict */
function describeReason(verdict) {
  const { code, result, reentry, validFrom, validUntil, eventName, remaining } = verdict;
  if (result === "yes") return reentry ? say("cameBack") : "";
  const values = { event: eventName, from: formatTime(validFrom), until: formatTime(validUntil), count: remaining };
  const key = code === "WRONG_DAY" && !validUntil ? "WRONG_DAY_FROM" : code === "WRONG_DAY" && !validFrom ? "WRONG_DAY_UNTIL" : code;
  const known = say(key, values);
  return known === key ? verdict.message || say("FAILED") : known;
}

/** @param {Verdict} verdict */
function describePlace({ result, at, gate, by }) {
  return result === "yes" ? "" : [formatTime(at), ...new Set([gate, by])].filter(Boolean).join(" · ");
}

/** @param {number} more @param {((count: number) => void) | undefined} admit */
function setParty(more, admit) {
  get("verdict-party").hidden = !more;
  let count = more;
  const show = () => {
    get("party-count").textContent = String(count);
    get("party-admit").textContent = say("admitMore", { count });
  };
  get("party-left").textContent = say("partyLeft", { count: more });
  get("party-less").onclick = () => (count = Math.max(1, count - 1), show());
  get("party-more").onclick = () => (count = Math.min(more, count + 1), show());
  get("party-admit").onclick = () => admit?.(count);
  show();
}

/** @param {string} id @param {(() => void) | undefined} act */
function setAction(id, act) {
  get(id).hidden = !act;
  get(id).onclick = act ?? null;
}
