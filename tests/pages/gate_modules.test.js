// Tests of the modules of the gate page that need no browser; tests/pages/test_gate_modules.py runs them with Node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureClockError } from "./admissions.js";
import { hashCode, hashScannedText, parseCode, repairText } from "./codes.js";
import { getEntryDay } from "./entry_day.js";
import { GuestList } from "./guest_list.js";
import { foldName, matchesWords } from "./names.js";
import { formatTime, setTimezone } from "./texts.js";
import { judgeAnswer, judgePlace, judgeRepeat } from "./verdict.js";

const NOW = Date.parse("2026-12-04T18:00:00Z");
const SECONDS = NOW / 1000;
const TYPE = { id: "t1", name: "Day ticket", validFrom: null, validUntil: null };
const build = (changes = {}) => Object.assign(["p1", "a", "h1", "María Nangolo", 0, "c", null, null, null, null, null, null], changes);
const judge = (place, context = {}) =>
  judgePlace(place, { type: TYPE, reentry: "none", direction: "in", expected: [], now: NOW, ...context });

test("a code is read however it was typed", () => {
  assert.equal(parseCode("ab12 cd-34\u00a0eO"), "AB12CD34E0");
  assert.equal(parseCode("IL12CD34EF"), "1112CD34EF");
  for (const text of ["AB12CD34E", "AB12CD34EU", "AB12CD34EF1", "x".repeat(41), ""]) assert.equal(parseCode(text), null);
});

test("the day is before the month in every language", () => {
  setTimezone("Africa/Windhoek");
  for (const [lang, expected] of [["en", "Fri 4 December, 20:00"], ["de", "Fr., 4. Dezember, 20:00"]]) {
    globalThis.document = { documentElement: { lang } };
    assert.equal(formatTime(NOW), expected);
  }
});

test("a hash is twelve bytes of SHA-256 in base64url", async () => {
  assert.equal(await hashCode("salt", "A1B2C3D4E5"), process.env.EXPECTED_HASH);
  const [own, code] = await hashScannedText("salt", " a1b2-c3d4e5 ");
  assert.equal(own, await hashCode("salt", "a1b2-c3d4e5"));
  assert.equal(code, await hashCode("salt", "A1B2C3D4E5"));
  assert.equal((await hashScannedText("salt", "A1B2C3D4E5")).length, 1);
});

test("names are folded as the service folds them", () => {
  for (const [name, folded] of JSON.parse(process.env.FOLDED_NAMES)) assert.equal(foldName(name), folded);
  for (const name of ["Nora O\u2019Neil", "Nora O\u2018Néil", "Nora O\u02bcNeil", "Nora O'Neil"]) {
    assert.equal(foldName(name), "nora o neil");
  }
  assert.ok(matchesWords("maria da silva", ["sil", "mar"]));
  assert.ok(!matchesWords("maria da silva", ["ilva"]));
});

test("a guest comes in once", () => {
  const verdict = judge(build());
  assert.deepEqual([verdict.result, verdict.code, verdict.name, verdict.confirmed], ["yes", "ADMITTED", "María Nangolo", false]);
  const again = judge(build({ 5: "a", 7: SECONDS - 60, 8: "North" }));
  assert.deepEqual([again.result, again.code, again.at, again.gate], ["no", "ALREADY_ADMITTED", NOW - 60_000, "North"]);
});

test("who is not on the list is for a person to look at", () => {
  assert.deepEqual([judge(null).result, judge(null).code], ["look", "NOT_ON_LIST"]);
  assert.equal(judge(build({ 5: "n", 3: null })).code, "NOT_CLAIMED");
  assert.equal(judge(build({ 5: "r" })).code, "SLOT_REVOKED");
  assert.equal(judge(build({ 5: "r", 1: "t" })).code, "TICKET_ENDED");
});

test("a ticket is valid from a time to before another, its own or that of its type", () => {
  const type = { ...TYPE, validFrom: "2026-12-04T18:00:00Z", validUntil: "2026-12-04T19:00:00Z" };
  assert.equal(judge(build(), { type }).code, "ADMITTED");
  assert.equal(judge(build(), { type, now: NOW - 1 }).code, "WRONG_DAY");
  assert.equal(judge(build(), { type, now: NOW + 3_600_000 }).code, "WRONG_DAY");
  assert.equal(judge(build({ 9: SECONDS - 60 }), { type, now: NOW - 1 }).code, "ADMITTED");
});

test("re-entry follows the event", () => {
  const inside = build({ 5: "a", 7: SECONDS });
  const outside = build({ 5: "a", 7: SECONDS, 11: SECONDS });
  assert.equal(judge(inside, { reentry: "free" }).reentry, true);
  assert.equal(judge(inside, { reentry: "counted" }).code, "ALREADY_ADMITTED");
  assert.equal(judge(outside, { reentry: "counted" }).reentry, true);
  assert.equal(judge(inside, { reentry: "counted", direction: "out" }).code, "LEFT");
  assert.equal(judge(outside, { reentry: "counted", direction: "out" }).code, "NOT_INSIDE");
  assert.equal(judge(inside, { direction: "out" }).code, "NO_REENTRY");
});

test("where a ticket enters once a day, the day begins at 5 in the morning in the timezone of the event", () => {
  const came = Date.parse("2026-12-04T20:00:00Z") / 1000; // 22:00 in Windhoek
  const context = { reentry: "daily", timezone: "Africa/Windhoek" };
  const judgeAt = (now, place) => judge(place, { ...context, now: Date.parse(now) });
  const place = build({ 5: "a", 7: came, 12: came });
  assert.equal(judgeAt("2026-12-05T02:59:59Z", place).code, "ALREADY_ADMITTED");
  assert.deepEqual([judgeAt("2026-12-05T03:00:00Z", place).code, judgeAt("2026-12-05T03:00:00Z", place).reentry], ["ADMITTED", true]);
  const [again] = GuestList.scanned([place], "in", "", Date.parse("2026-12-05T09:00:00Z") / 1000);
  const refused = judgeAt("2026-12-05T18:00:00Z", again);
  assert.deepEqual([refused.code, refused.at], ["ALREADY_ADMITTED", Date.parse("2026-12-05T09:00:00Z")]);
  assert.equal(judgeAt("2026-12-06T09:00:00Z", again).code, "ADMITTED");
});

test("where a ticket enters once a day, a party is expected again on the next day", () => {
  const info = { event: { reentry: "daily", timezone: "Africa/Windhoek" }, ticketTypes: [TYPE] };
  const yesterday = SECONDS - 86_400;
  const list = new GuestList(info, ["p1", "p2", "p3"].map((id) => build({ 0: id, 2: id, 5: "a", 6: "p", 7: yesterday, 12: yesterday })));
  const context = { reentry: "daily", timezone: "Africa/Windhoek" };
  const judgeNow = (count) => judge(list.places.get("p1"), { ...context, expected: list.listExpected(list.places.get("p1"), NOW), count });
  assert.deepEqual([judgeNow(3).code, judgeNow(3).remaining], ["ADMITTED", 0]);
  assert.deepEqual([judgeNow().reentry, judgeNow().remaining], [true, 2]);
  list.put(GuestList.scanned([list.places.get("p1")], "in", "", SECONDS));
  assert.deepEqual([judgeNow().code, judgeNow().result, judgeNow().remaining], ["ALREADY_ADMITTED", "look", 2]);
  const [late] = GuestList.scanned([list.places.get("p1")], "in", "", yesterday);
  assert.equal(late[12], SECONDS, "a scan of yesterday that waits hides no entry of today");
});

test("a day begins at 5 also when clocks change", () => {
  const days = (...times) => times.map((time) => getEntryDay(Date.parse(time), "Europe/Berlin"));
  assert.deepEqual(days("2027-03-28T02:59:59Z", "2027-03-28T03:00:00Z"), ["2027-03-27", "2027-03-28"]);
  assert.deepEqual(days("2026-10-25T03:59:59Z", "2026-10-25T04:00:00Z"), ["2026-10-24", "2026-10-25"]);
});

test("the size of the list has only places that may come in or have", () => {
  const list = new GuestList(null, ["c", "a", "r", "n"].map((state) => build({ 0: state, 2: state, 5: state })));
  assert.equal(list.size, 2);
  list.put([build({ 0: "c", 2: "c", 5: "r" })]);
  assert.equal(list.size, 1);
  list.put([build({ 0: "r", 2: "r", 5: "c" }), build({ 0: "r", 2: "r", 5: "c" })]);
  assert.equal(list.size, 2);
  list.remove(["a", "n", "unknown"]);
  assert.equal(list.size, 1);
});

test("a party comes in together or one after the other", () => {
  const list = new GuestList(null, [build({ 6: "p" }), build({ 0: "p2", 2: "h2", 6: "p" }), build({ 0: "p3", 2: "h3", 6: "p" })]);
  const place = list.places.get("p2");
  const expected = list.listExpected(place, NOW);
  assert.equal(judge(place, { expected }).remaining, 2);
  assert.deepEqual([judge(place, { expected, count: 3 }).admitted, judge(place, { expected, count: 3 }).remaining], [3, 0]);
  assert.equal(judge(place, { expected, count: 4 }).code, "PARTY_TOO_SMALL");
  list.put(GuestList.scanned([place], "in", "North", SECONDS));
  const rest = list.listExpected(place, NOW);
  assert.equal(rest.length, 2);
  const again = judge(list.places.get("p2"), { expected: rest });
  assert.deepEqual([again.code, again.result, again.remaining], ["ALREADY_ADMITTED", "look", 2]);
  assert.equal(judge(list.places.get("p2"), { expected: rest, count: 2 }).code, "ADMITTED");
});

test("the service's answer says who, when and where", () => {
  const data = { name: "Jonas", admittedAt: "2026-12-04T17:00:00Z", gate: "North", by: "Phone 2" };
  const verdict = judgeAnswer({ ok: false, code: "ALREADY_ADMITTED", message: "", data });
  assert.deepEqual([verdict.result, verdict.at, verdict.by, verdict.confirmed], ["no", NOW - 3_600_000, "Phone 2", true]);
  const refused = { ok: false, code: "TICKET_CANCELLED", message: "" };
  assert.equal(judgeAnswer({ ...refused, data: { status: "refunded" } }).code, "TICKET_REFUNDED");
  assert.equal(judgeAnswer({ ...refused, data: { status: "cancelled" } }).code, "TICKET_CANCELLED");
  assert.equal(judgeAnswer({ ok: true, code: "SUCCESS", message: "", data: { admitted: 2, remaining: 1 } }).result, "yes");
  const scan = { occurredAt: "2026-12-04T17:00:00Z", gate: "East", verdict: { name: "Jonas" } };
  assert.deepEqual([judgeRepeat(scan).code, judgeRepeat(scan).gate], ["ALREADY_ADMITTED", "East"]);
});

test("the list finds by code and name, follows changes and counts", async () => {
  const info = { position: "1", salt: "salt", updatedAt: 0, event: {}, ticketTypes: [TYPE] };
  const list = new GuestList(info, [build({ 2: await hashCode("salt", "A1B2C3D4E5") }), build({ 0: "p2", 2: "h2", 3: "Zoë Åberg" })]);
  assert.equal((await list.find({ code: "a1b2c3d4e5" }))[0], "p1");
  assert.equal(await list.find({ code: "nothing" }), null);
  assert.deepEqual(list.search("aber zo").map((place) => place[0]), ["p2"]);
  list.put([build({ 0: "p2", 2: "h2", 3: "Zoe Smith", 5: "a", 8: "North" })]);
  assert.deepEqual([list.search("aberg").length, list.search("smith").length], [0, 1]);
  assert.deepEqual([...list.count().types], [["Day ticket", { admitted: 1, expected: 2 }]]);
  assert.deepEqual([...list.count().gates], [["North", 1]]);
  list.remove(["p1"]);
  assert.equal(await list.find({ code: "A1B2C3D4E5" }), null);
});

test("what no ticket can have is no ticket", () => {
  assert.equal(repairText("a\ud800b \u{1f39f} \udc00"), "a\ufffdb \u{1f39f} \ufffd");
  const verdict = judgeAnswer({ ok: false, code: "VALIDATION_FAILED", message: "Some fields are wrong.", data: { errors: [] } });
  assert.deepEqual([verdict.result, verdict.code, verdict.confirmed], ["no", "TICKET_NOT_FOUND", true]);
});

test("a clock that is far off is corrected, the way of an answer is not", () => {
  const takenAt = "2026-12-04T18:00:00.000Z";
  assert.equal(measureClockError(takenAt, NOW + 20_000), 0);
  assert.equal(measureClockError(takenAt, NOW + 900_000), 900_000);
  assert.equal(measureClockError(takenAt, NOW - 900_000), -900_000);
});

test("a list of 100,000 is searched while somebody types", () => {
  const places = Array.from({ length: 100_000 }, (_, index) => build({ 0: `i${index}`, 2: `h${index}`, 3: `Ndapewa Iita ${index}` }));
  const list = new GuestList({ position: "", salt: "", updatedAt: 0, event: {}, ticketTypes: [TYPE] }, places);
  list.search("nobody");
  const start = performance.now();
  assert.equal(list.search("99999 iita").length, 1);
  console.log(`search of 100,000 names: ${Math.round(performance.now() - start)} ms`);
});
