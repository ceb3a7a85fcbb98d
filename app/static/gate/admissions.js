// Scans of this device: decided by the service, or by the list on the device and sent later. Keeps the list up to date.

import { createNonce, repairText } from "./codes.js";
import { DeviceEnded, Unreachable } from "./connection.js";
import { getEntryDay } from "./entry_day.js";
import { GuestList } from "./guest_list.js";
import { judgeAnswer, judgePlace, judgeRepeat } from "./verdict.js";

/** @typedef {import("./types.js").Scan} Scan */
/** @typedef {import("./types.js").Place} Place */
/** @typedef {import("./types.js").Verdict} Verdict */
/** @typedef {import("./types.js").Target} Target */
/** @typedef {{verdict: Verdict, scan?: Scan, allow?: () => Promise<Outcome>}} Outcome */

export const UNDO_MILLISECONDS = 10 * 60_000;
const KEEP_MILLISECONDS = 60 * 60_000;
const MAX_BATCH = 500;
const MAX_CHANGES = 2000;
const RETRY_MILLISECONDS = 3000;
const REFRESH_MILLISECONDS = 15_000;
const TYPING_MILLISECONDS = 300;
const MAX_DELAY = 60_000;
const UNDO_REASON = "Undone at the gate";
/** @type {{reentry: import("./types.js").Reentry, timezone: string}} */
const NO_EVENT = { reentry: "none", timezone: "UTC" };

export class Admissions {
  /**
   * @param {import("./store.js").Store} store
   * @param {import("./connection.js").Connection} connection
   * @param {import("./types.js").Settings} settings
   */
  constructor(store, connection, settings) {
    this.store = store;
    this.connection = connection;
    this.settings = settings;
    this.list = new GuestList(null, []);
    /** @type {{id: string, name: string, eventId: string, eventName: string} | null} */
    this.device = null;
    /** @type {Map<string, Scan>} */
    this.scans = new Map();
    /** @type {Map<string, string>} */
    this.unanswered = new Map();
    this.isEnded = false;
    /** Whether scans admit nobody. It ends with the page, so that no phone trains at the event by mistake. */
    this.isTraining = false;
    this.detailsQuery = "";
    this.answeredQuery = "";
    /** @type {Promise<void>} */
    this.detailsLoaded = Promise.resolve();
    /** @type {Map<string, string[]>} */
    this.details = new Map();
    this.onChange = () => {};
    this.wake = () => {};
    this.isProbing = false;
    this.channel = new BroadcastChannel("gate");
    this.channel.onmessage = (event) => this.adopt(event.data);
  }

  /** Read what the device has kept. */
  async load() {
    const [info, places, changes] = await Promise.all([
      this.store.readValue("list"),
      this.store.readValue("places"),
      this.store.readChanges(),
    ]);
    this.device = (await this.store.readValue("device")) ?? null;
    this.list = new GuestList(info ?? null, places ?? []);
    for (const place of changes) {
      if (place.length === 1) this.list.remove(place);
      else this.list.put([place]);
    }
    await this.loadScans();
    if (changes.length > MAX_CHANGES) await this.writeList();
  }

  async loadScans() {
    const scans = await this.store.readScans();
    const oldest = this.now() - KEEP_MILLISECONDS;
    const old = scans.filter((scan) => scan.state === "sent" && !scan.undo && Date.parse(scan.occurredAt) < oldest);
    if (old.length) await this.store.change((stores) => old.forEach((scan) => stores.scans.delete(scan.nonce)));
    this.scans = new Map(scans.filter((scan) => !old.includes(scan)).map((scan) => [scan.nonce, scan]));
  }

  /** Keep the list up to date and send scans, until the device is ended. */
  async run() {
    setInterval(() => (this.connection.isOnline ? this.sendSoon() : this.probe()), 5000);
    while (!this.isEnded) {
      try {
        if (!this.connection.token) await this.open();
        await this.refresh();
        this.sendSoon();
        const position = this.list.info?.position ?? "";
        await this.connection.follow(`${this.path}/stream`, position, (...event) => this.apply(...event));
      } catch (error) {
        if (error instanceof DeviceEnded) return this.end();
        if (!(error instanceof Unreachable)) console.warn(error);
      }
      await this.pause(this.connection.isOnline ? REFRESH_MILLISECONDS : RETRY_MILLISECONDS);
    }
  }

  async open() {
    const session = await this.connection.openSession();
    const { device, event } = session;
    if (this.device && (this.device.id !== device.id || this.device.eventId !== event.id)) await this.forgetList();
    this.device = { ...device, eventId: event.id, eventName: event.name };
    await this.store.writeValues({ device: this.device });
    this.onChange();
  }

  /** The time in milliseconds by the clock of the service, which takes no scan of a clock that is far ahead. */
  now() {
    return Date.now() - (this.list.info?.clockError ?? 0);
  }

  get path() {
    return `/api/events/${this.device?.eventId}/admissions`;
  }

  /** Fetch what has changed since the last time, or the whole list. */
  async refresh() {
    const since = this.list.info ? `?since=${encodeURIComponent(this.list.info.position)}` : "";
    const { ok, code, data } = await this.connection.send("GET", `${this.path}/snapshot${since}`, undefined, 60_000);
    if (!ok) throw new Unreachable(code);
    const { position, takenAt, salt, event, ticketTypes, places, removed } = data;
    if (!data.full && (salt !== this.list.info?.salt || this.isOutdated({ event, ticketTypes }))) return this.reload();
    const info = { position, salt, event, ticketTypes, updatedAt: Date.now(), clockError: measureClockError(takenAt) };
    if (data.full) {
      this.list = new GuestList(info, this.addWaiting(places));
      await this.writeList();
    } else {
      this.list.info = info;
      await this.putPlaces(this.addWaiting(places), removed);
    }
    this.onChange();
  }

  /** Apply an event of the stream. @param {string} name @param {any} data @param {string} position */
  async apply(name, data, position) {
    if (!this.list.info) return;
    if (name === "resync") return this.refresh();
    if (name === "changes") {
      if (this.isOutdated(data)) return this.reload();
      this.list.info = { ...this.list.info, event: data.event, ticketTypes: data.ticketTypes };
      await this.putPlaces(this.addWaiting(data.places), data.removed);
    }
    this.list.info.updatedAt = Date.now();
    if (position) this.list.info.position = position;
    if (name) await this.store.writeValues({ list: this.list.info });
    this.onChange();
  }

  /**
   * Whether the places that are here mean something else now: numbers of other ticket types, or no time of the last entry.
   * @param {{event: {reentry: import("./types.js").Reentry}, ticketTypes: import("./types.js").TicketType[]}} data
   */
  isOutdated({ event, ticketTypes }) {
    const isNowDaily = event.reentry === "daily" && this.list.info?.event.reentry !== "daily";
    return isNowDaily || (this.list.info?.ticketTypes ?? []).some((type, index) => type.id !== ticketTypes[index]?.id);
  }

  /** Fetch the whole list again. */
  async reload() {
    await this.forgetList();
    await this.refresh();
  }

  /**
   * Scan a code or a place, and return the verdict. A scan that the list decides is on the disk before.
   * `allow` lets somebody in whom the list does not know.
   * @param {Target} target
   * @returns {Promise<Outcome>}
   */
  async scan(target) {
    const isTraining = this.isTraining;
    if (target.code) target = { ...target, code: repairText(target.code) };
    const place = await this.list.find(target);
    const { gate, direction } = this.settings;
    const expected = place ? this.list.listExpected(place, this.now()) : [];
    const { reentry, timezone } = this.list.info?.event ?? NO_EVENT;
    const type = place && this.list.getTicketType(place);
    const now = this.now();
    const verdict = judgePlace(place, { type, reentry, timezone, direction, expected, count: target.count, now });
    const key = JSON.stringify([target, direction]);
    /** @type {Scan} */
    const scan = {
      ...target,
      ...{ nonce: this.unanswered.get(key) ?? createNonce(), eventId: this.device?.eventId ?? "", direction, gate },
      ...{ occurredAt: new Date(now).toISOString(), verdict, before: [], attempted: false, state: "waiting" },
    };
    if (place) scan.before = target.count === undefined || !expected.length ? [place] : expected.slice(0, target.count);
    const repeat = [...this.scans.values()].find((other) => this.refuses(other, scan));
    const repeated = repeat && judgeRepeat(repeat);
    if (isTraining) return { verdict: { ...(repeated ?? (await this.check(target)) ?? verdict), isTraining } };
    if (repeated) return { verdict: repeated };
    if (this.connection.isOnline && this.connection.token) {
      scan.attempted = true;
      try {
        const body = { ...target, nonce: scan.nonce, direction, ...(gate && { gate }) };
        const answer = await this.connection.sendScan(this.path, body);
        this.unanswered.delete(key);
        const final = judgeAnswer(answer);
        if (!answer.ok) return { verdict: final };
        Object.assign(scan, { verdict: final, state: "sent", admissionId: answer.data.admissionId });
        delete scan.code;
        await this.keepScan(scan);
        return { verdict: final, scan };
      } catch (error) {
        if (error instanceof DeviceEnded) await this.end();
        this.unanswered.set(key, scan.nonce);
      }
    }
    if (this.isEnded) return { verdict: { result: "look", code: "FAILED", confirmed: false } };
    const record = async () => {
      const refusal = await this.keepScan(scan);
      if (refusal) return { verdict: judgeRepeat(refusal) };
      this.unanswered.delete(key);
      this.sendSoon();
      return { verdict: scan.verdict, scan };
    };
    scan.verdict = { ...verdict, result: "yes", code: direction === "in" ? "ADMITTED" : "LEFT" };
    if (verdict.result === "yes") return record();
    return verdict.code === "NOT_ON_LIST" ? { verdict, allow: record } : { verdict };
  }

  /** Ask the service what a scan would do; null if it does not answer. @param {Target} target @returns {Promise<Verdict | null>} */
  async check(target) {
    if (!this.connection.isOnline || !this.connection.token) return null;
    try {
      const body = { ...target, nonce: createNonce(), direction: this.settings.direction, training: true };
      return judgeAnswer(await this.connection.sendScan(this.path, body));
    } catch (error) {
      if (error instanceof DeviceEnded) await this.end();
      return null;
    }
  }

  /** Whether somebody may come in again with a ticket that was used. */
  get mayReenter() {
    return (this.list.info?.event ?? NO_EVENT).reentry !== "none";
  }

  /** Whether somebody may come in now with a place that was used. @param {Place} place */
  mayAdmitAgain(place) {
    return this.mayReenter && (this.list.info?.event.reentry !== "daily" || this.list.isExpected(place, this.now()));
  }

  /** Whether somebody may come in with a ticket at the time of a scan after another one. @param {Scan} scan @param {Scan} other */
  mayReturn(scan, other) {
    const { reentry, timezone } = this.list.info?.event ?? NO_EVENT;
    const [day, otherDay] = [scan, other].map(({ occurredAt }) => getEntryDay(Date.parse(occurredAt), timezone));
    return reentry === "daily" ? day !== otherDay : reentry !== "none";
  }

  /**
   * Return the guests whose names have these words, or else those that the service has found for the same text: by
   * ticket number, code or address.
   * @param {string} query
   */
  search(query) {
    const places = this.list.search(query);
    if (places.length || query.trim() !== this.answeredQuery) return places;
    return [...this.details.keys()].map((id) => this.list.places.get(id)).filter((place) => place !== undefined);
  }

  /**
   * Ask the service who is found, and what tells them apart: block, end of the code, masked address. It is not kept.
   * @param {string} query
   */
  async loadDetails(query) {
    if (!this.connection.isOnline || !this.connection.token) return;
    if (query !== this.detailsQuery) this.detailsLoaded = this.fetchDetails(query);
    await this.detailsLoaded;
  }

  /** @param {string} query */
  async fetchDetails(query) {
    this.detailsQuery = query;
    await new Promise((resolve) => setTimeout(resolve, TYPING_MILLISECONDS));
    if (query !== this.detailsQuery) return;
    try {
      const { ok, data } = await this.connection.send("GET", `${this.path}/places?q=${encodeURIComponent(query)}`);
      if (query !== this.detailsQuery) return;
      if (ok) this.details = new Map(data.places.map((/** @type {any} */ place) => [place.id, place.details]));
      if (ok) this.answeredQuery = query;
    } catch (error) {
      this.detailsQuery = "";
      if (error instanceof DeviceEnded) await this.end();
    }
    this.onChange();
  }

  /** Whether a scan that was not sent refuses another, because somebody is inside with the place already; of others the list knows. @param {Scan} other @param {Scan} scan */
  refuses(other, scan) {
    if (other.nonce === scan.nonce || other.undo || other.state !== "waiting" || scan.direction === "out") return false;
    if (this.mayReturn(scan, other)) return false;
    if (!scan.before.length) return scan.code !== undefined && other.code === scan.code;
    const ids = new Set(scan.before.map((place) => place[0]));
    return other.before.some((place) => ids.has(place[0]));
  }

  /** Keep a scan and its effect on the list. Return the scan of another tab that refuses it, or null. @param {Scan} scan */
  async keepScan(scan) {
    const places = GuestList.scanned(scan.before, scan.direction, scan.gate, Math.floor(Date.parse(scan.occurredAt) / 1000));
    const isFinal = scan.state === "sent";
    const refusal = await this.store.addScan(scan, places, (other) => !isFinal && this.refuses(other, scan));
    if (refusal) return refusal;
    this.scans.set(scan.nonce, scan);
    this.share(places);
    return null;
  }

  /** Take back a scan: at once if the service does not know it, else by the service. @param {string} nonce */
  async undo(nonce) {
    const scan = this.scans.get(nonce);
    if (!scan) return;
    if (scan.state === "waiting" && !scan.attempted) this.scans.delete(nonce);
    else scan.undo = "waiting";
    await this.store.change((stores) => {
      if (scan.undo) stores.scans.put(scan, nonce);
      else stores.scans.delete(nonce);
      for (const place of scan.before) stores.changes.put(place, place[0]);
    });
    this.share(scan.before);
    await this.sendUndo(scan).catch(() => {});
  }

  /** @param {Scan} scan */
  async sendUndo(scan) {
    if (scan.undo !== "waiting" || !scan.admissionId) return;
    const path = `${this.path}/${scan.admissionId}/undo`;
    const { ok } = await this.connection.send("POST", path, { reason: UNDO_REASON });
    scan.undo = ok ? "done" : "failed";
    await this.store.change((stores) => stores.scans.put(scan, scan.nonce));
    if (!ok) await this.refreshPlaces(scan);
    this.onChange();
  }

  /** Show the places of a scan as admitted again, because it could not be undone. @param {Scan} scan */
  async refreshPlaces(scan) {
    const at = Math.floor(Date.parse(scan.occurredAt) / 1000);
    await this.putPlaces(GuestList.scanned(scan.before, scan.direction, scan.gate, at), []);
  }

  /** Ask whether the service answers again after a request that failed while the stream lives on, which would hide it. */
  async probe() {
    if (!this.connection.isFollowing || this.isProbing) return;
    this.isProbing = true;
    try {
      await this.connection.openSession();
      this.sendSoon();
    } catch (error) {
      if (error instanceof DeviceEnded) await this.end();
    } finally {
      this.isProbing = false;
    }
  }

  sendSoon() {
    if (!this.connection.isOnline || !this.connection.token || !this.listWaiting().length) return;
    this.sendWaiting().catch(async (error) => {
      if (error instanceof DeviceEnded) await this.end();
      else if (!(error instanceof Unreachable)) console.warn(error);
    });
  }

  /** Send the scans that wait, those of other tabs too; one tab sends at a time. */
  async sendWaiting() {
    await navigator.locks.request("gate-scans", { ifAvailable: true }, async (lock) => {
      if (!lock) return;
      await this.loadScans();
      for (const scan of this.scans.values()) if (scan.state === "sent") await this.sendUndo(scan);
      const waiting = this.listWaiting().filter((scan) => scan.state === "waiting").slice(0, MAX_BATCH);
      if (!waiting.length) return;
      for (const scan of waiting) scan.attempted = true;
      await this.store.change((stores) => waiting.forEach((scan) => stores.scans.put(scan, scan.nonce)));
      const admissions = waiting.map(({ code, placeId, nonce, occurredAt, gate, count, direction }) =>
        ({ ...(placeId ? { placeId } : { code }), nonce, occurredAt, direction, ...(gate && { gate }), ...(count && { count }) }));
      const { ok, code, data } = await this.connection.send("POST", `${this.path}/batch`, { admissions }, 30_000);
      if (!ok) throw new Unreachable(code);
      for (const result of data.results) {
        const scan = this.scans.get(result.nonce);
        if (scan) this.settle(scan, result);
      }
      await this.store.change((stores) => waiting.forEach((scan) => stores.scans.put(scan, scan.nonce)));
      for (const scan of waiting) await this.sendUndo(scan);
    });
    this.onChange();
  }

  /** Write the result of a batch into its scan. @param {Scan} scan @param {Record<string, any>} result */
  settle(scan, result) {
    scan.state = result.status === "refused" ? "refused" : "sent";
    scan.admissionId = result.admissionId;
    if (scan.state === "sent") scan.verdict = { ...scan.verdict, confirmed: true };
    if (result.status === "conflict" || result.status === "refused") scan.conflict = result.code ?? "FAILED";
    if (scan.state === "sent") delete scan.code;
  }

  /** Return the scans of this event that the service does not know yet, or whose undoing it does not know. */
  listWaiting() {
    return [...this.scans.values()]
      .filter((scan) => scan.eventId === this.device?.eventId)
      .filter((scan) => scan.state === "waiting" || (scan.state === "sent" && scan.undo === "waiting"))
      .sort((one, other) => (one.occurredAt < other.occurredAt ? -1 : 1));
  }

  /** Return the scans that the service has not taken, of all events. */
  listUnsent() {
    return [...this.scans.values()].filter((scan) => scan.state !== "sent");
  }

  /** Forget the list and all names, because the organiser has ended this device. Scans that were not sent stay. */
  async end() {
    this.isEnded = true;
    await this.forgetList();
    for (const [nonce, scan] of this.scans) {
      if (scan.state === "sent") this.scans.delete(nonce);
      else Object.assign(scan, { before: [], verdict: { ...scan.verdict, name: null } });
    }
    await this.store.change((stores) => {
      stores.scans.clear();
      for (const scan of this.scans.values()) stores.scans.put(scan, scan.nonce);
    });
    this.onChange();
  }

  /** Forget the scans that were not sent; they have been downloaded. */
  async dropUnsent() {
    const unsent = this.listUnsent();
    await this.store.change((stores) => unsent.forEach((scan) => stores.scans.delete(scan.nonce)));
    for (const scan of unsent) this.scans.delete(scan.nonce);
    this.onChange();
  }

  async forgetList() {
    this.list = new GuestList(null, []);
    this.details = new Map();
    await this.store.change((stores) => {
      stores.changes.clear();
      stores.values.delete("list");
      stores.values.delete("places");
    });
  }

  async writeList() {
    await this.store.change((stores) => {
      stores.changes.clear();
      stores.values.put(this.list.info, "list");
      stores.values.put([...this.list.places.values()], "places");
    });
  }

  /** Return places of the service with the scans that it does not know yet. @param {Place[]} places */
  addWaiting(places) {
    const waiting = [...this.scans.values()].filter((scan) => scan.state === "waiting" && !scan.undo);
    const scanByPlace = new Map(waiting.flatMap((scan) => scan.before.map((place) => [place[0], scan])));
    return places.map((place) => {
      const scan = scanByPlace.get(place[0]);
      if (!scan) return place;
      return GuestList.scanned([place], scan.direction, scan.gate, Math.floor(Date.parse(scan.occurredAt) / 1000))[0];
    });
  }

  /** @param {Place[]} places @param {string[]} removed */
  async putPlaces(places, removed) {
    this.list.put(places);
    this.list.remove(removed);
    await this.store.change((stores) => {
      for (const place of places) stores.changes.put(place, place[0]);
      for (const id of removed) stores.changes.put([id], id);
      stores.values.put(this.list.info, "list");
    });
  }

  /** Show changed places in this tab and in the others. @param {Place[]} places */
  share(places) {
    this.list.put(places);
    this.channel.postMessage(places);
    this.onChange();
  }

  /** Take over what another tab has scanned. @param {Place[]} places */
  async adopt(places) {
    this.list.put(places);
    await this.loadScans();
    this.onChange();
  }

  /** @param {number} milliseconds @returns {Promise<void>} */
  pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Return by how many milliseconds the clock of this device is ahead of that of the service; 0 for what the way of the
 * answer explains.
 * @param {string} takenAt
 */
export function measureClockError(takenAt, now = Date.now()) {
  const error = now - Date.parse(takenAt);
  return Math.abs(error) > MAX_DELAY ? error : 0;
}
