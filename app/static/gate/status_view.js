// What the page shows below the camera: the state of the list, found guests, last scans, counts, and scans to download.

import { UNDO_MILLISECONDS } from "./admissions.js";
import { create, formatTime, get, say } from "./texts.js";

/** @typedef {import("./admissions.js").Admissions} Admissions */

const UNDONE_MILLISECONDS = 6000;
/** How long before the beginning nobody wonders about scans. */
const TIME_AT_THE_GATE = 24 * 60 * 60 * 1000;

/**
 * Replace the rows of a list if what they show has changed, so that nothing moves under a finger.
 * @param {string} id
 * @param {unknown} key
 * @param {() => Node[]} build
 */
function replaceRows(id, key, build) {
  const element = get(id);
  const text = JSON.stringify(key);
  if (element.key === text) return;
  element.key = text;
  element.replaceChildren(...build());
}

/** Show whether the service answers, how old the list is and how many scans wait. @param {Admissions} admissions */
export function showState(admissions) {
  const { connection, list } = admissions;
  const waiting = admissions.listWaiting().length;
  const age = list.info ? Math.max(0, Math.round((Date.now() - list.info.updatedAt) / 1000)) : null;
  const isLive = connection.isOnline && (connection.isFollowing || (age ?? 99) < 30);
  get("state").dataset.state = isLive ? "live" : "offline";
  get("state-word").textContent = say(isLive ? "live" : "offline");
  get("state-list").textContent = age === null ? say("noList") : say("list", { count: list.size, age: describeAge(age) });
  get("state-waiting").textContent = waiting ? say("waiting", { count: waiting }) : say("noneWaiting");
  get("event-name").textContent = admissions.device?.eventName ?? "";
  get("gate-name").textContent = admissions.settings.gate;
  showFarAway(admissions);
}

/** Say for a moment that a scan is undone. @param {import("./types.js").Verdict} verdict */
export function showUndone({ name }) {
  const text = say("undone", { name: name || say("unknownName") });
  get("undone").textContent = text;
  setTimeout(() => get("undone").textContent === text && (get("undone").textContent = ""), UNDONE_MILLISECONDS);
}

/** Say that the event has long not begun, since scans count already. @param {Admissions} admissions */
function showFarAway(admissions) {
  const startsAt = Date.parse(admissions.list.info?.event.startsAt ?? "");
  const isFarAway = !admissions.isEnded && startsAt - admissions.now() > TIME_AT_THE_GATE;
  get("far-away").hidden = !isFarAway;
  const text = isFarAway ? say("farAway", { when: formatTime(startsAt) }) : "";
  const note = get("far-away").firstElementChild;
  if (note.textContent !== text) note.textContent = text;
}

/** @param {number} seconds */
function describeAge(seconds) {
  if (seconds < 120) return say("seconds", { count: seconds });
  return seconds < 7200 ? say("minutes", { count: Math.round(seconds / 60) }) : say("hours", { count: Math.round(seconds / 3600) });
}

/** Show the guests that a name or a ticket number finds. @param {Admissions} admissions @param {string} query @param {(id: string) => void} admit */
export function showResults(admissions, query, admit) {
  const places = query.trim().length > 1 ? admissions.search(query) : [];
  const expected = places.map((place) => admissions.list.listExpected(place, admissions.now()).length);
  const names = places.map((place) => place[3]?.toLocaleLowerCase());
  if (query.trim().length > 1 && (!names.length || new Set(names).size < names.length)) admissions.loadDetails(query.trim());
  const details = places.map((place) => admissions.details.get(place[0]) ?? []);
  const build = () => places.map((place, index) => {
    const [id, , , name, , state, , admittedAt, gate] = place;
    const type = admissions.list.getTicketType(place)?.name ?? "";
    const isIn = state === "a" ? say("inSince", { when: formatTime((admittedAt ?? 0) * 1000), gate: gate ?? "" }) : "";
    const note = state === "r" ? say("SLOT_REVOKED") : state === "n" ? say("NOT_CLAIMED") : isIn;
    const party = state === "c" && expected[index] > 1 ? say("party", { count: expected[index] }) : "";
    const button = create("button", { type: "button", className: "button", onclick: () => admit(id) }, say("admit"));
    button.append(create("span", { className: "hidden" }, ` ${name}`));
    const text = create("div", {}, create("strong", {}, name ?? ""), create("p", { className: "fine" }, [type, ...details[index], party, note].filter(Boolean).join(" · ")));
    return create("li", {}, text, ...(state === "c" || (state === "a" && admissions.mayAdmitAgain(place)) ? [button] : []));
  });
  replaceRows("results", [places, expected, details], build);
  get("results-none").hidden = places.length > 0 || query.trim().length < 2;
}

/** Show the last scans, with a button for those that can be undone. @param {Admissions} admissions */
export function showRecent(admissions) {
  const scans = [...admissions.scans.values()].sort((one, other) => (one.occurredAt < other.occurredAt ? 1 : -1)).slice(0, 20);
  const build = () => scans.map((scan) => {
    const at = Date.parse(scan.occurredAt);
    const { nonce, verdict, undo, conflict, state } = scan;
    const mark = undo ? `undo-${undo}` : conflict ? "conflict" : state === "waiting" ? "unconfirmed" : "";
    const notes = [formatTime(at), verdict.ticketType, verdict.admitted && verdict.admitted > 1 && say("people", { count: verdict.admitted }), mark && say(mark)];
    const text = create("div", {}, create("strong", {}, verdict.name || say("unknownName")), create("p", { className: "fine" }, notes.filter(Boolean).join(" · ")));
    const button = create("button", { type: "button", className: "button secondary", onclick: () => admissions.undo(nonce) }, say("undo"));
    button.append(create("span", { className: "hidden" }, ` ${verdict.name ?? ""}`));
    return create("li", {}, text, ...(!undo && admissions.now() - at < UNDO_MILLISECONDS ? [button] : []));
  });
  replaceRows("recent", scans, build);
  get("recent-none").hidden = scans.length > 0;
}

/** Show how many are in, by ticket type and by gate. @param {Admissions} admissions */
export function showCounts(admissions) {
  const { types, gates } = admissions.list.count();
  /** @param {string} name @param {string} value */
  const row = (name, value) => create("tr", {}, create("th", { scope: "row" }, name), create("td", { className: "amount" }, value));
  get("counts-types").replaceChildren(...[...types].map(([name, { admitted, expected }]) => row(name, `${admitted} / ${expected}`)));
  get("counts-gates").replaceChildren(...[...gates].map(([name, count]) => row(name || say("unknownGate"), String(count))));
}

/** Show that the device is ended, and the scans that the service has not taken. @param {Admissions} admissions */
export function showEnd(admissions) {
  const others = admissions.listUnsent().filter((scan) => scan.state === "refused" || scan.eventId !== admissions.device?.eventId);
  const unsent = admissions.isEnded ? admissions.listUnsent() : others;
  get("ended").hidden = !admissions.isEnded;
  get("state").hidden = admissions.isEnded;
  get("work").hidden = admissions.isEnded;
  get("unsent").hidden = !unsent.length;
  get("unsent-count").textContent = say("unsent", { count: unsent.length });
  get("unsent-rows").replaceChildren(...unsent.map((scan) =>
    create("li", {}, [formatTime(Date.parse(scan.occurredAt)), scan.gate, scan.code ?? scan.placeId].filter(Boolean).join(" · "))));
}

/** Download the scans that the service has not taken. @param {Admissions} admissions */
export function downloadUnsent(admissions) {
  const rows = admissions.listUnsent().map(({ eventId, nonce, code, placeId, count, direction, gate, occurredAt }) =>
    ({ eventId, nonce, code, placeId, count, direction, gate, occurredAt }));
  const url = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 2)], { type: "application/json" }));
  create("a", { href: url, download: "scans.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  get("unsent-drop").hidden = false;
}
