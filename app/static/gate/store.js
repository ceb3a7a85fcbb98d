// What this device keeps in IndexedDB: the list, what has changed since, scans and settings. Tabs share it.

/** @typedef {import("./types.js").Scan} Scan */
/** @typedef {import("./types.js").Place} Place */

const STORES = ["values", "changes", "scans"];

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("gate", 1);
    request.onupgradeneeded = () => STORES.forEach((name) => request.result.createObjectStore(name));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function settle(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Store {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  static async open() {
    return new Store(await openDatabase());
  }

  /** Return a value: `list`, `places`, `settings` or `device`. @param {string} key */
  readValue(key) {
    return settle(this.database.transaction("values").objectStore("values").get(key));
  }

  /** @param {Record<string, unknown>} values */
  async writeValues(values) {
    await this.change((stores) => Object.entries(values).forEach(([key, value]) => stores.values.put(value, key)));
  }

  /** @returns {Promise<Scan[]>} */
  readScans() {
    return settle(this.database.transaction("scans").objectStore("scans").getAll());
  }

  /** Return places as they are now; of those that have left the list only the ids. @returns {Promise<(Place | [string])[]>} */
  readChanges() {
    return settle(this.database.transaction("changes").objectStore("changes").getAll());
  }

  /**
   * Add a scan and its changes of the list, in one transaction, unless a scan that is here refuses it.
   * Return the scan that refuses it, or null.
   * @param {Scan} scan
   * @param {Place[]} places
   * @param {(other: Scan) => boolean} refuses
   */
  async addScan(scan, places, refuses) {
    /** @type {Scan | undefined} */
    let refusal;
    await this.change((stores) => {
      const request = stores.scans.getAll();
      request.onsuccess = () => {
        refusal = request.result.find(refuses);
        if (refusal) return;
        stores.scans.put(scan, scan.nonce);
        for (const place of places) stores.changes.put(place, place[0]);
      };
    });
    return refusal ?? null;
  }

  /**
   * Make changes in one transaction; they are on the disk when the promise is resolved.
   * @param {(stores: Record<string, IDBObjectStore>) => void} act
   * @returns {Promise<void>}
   */
  change(act) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORES, "readwrite", { durability: "strict" });
      transaction.oncomplete = () => resolve();
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
      act(Object.fromEntries(STORES.map((name) => [name, transaction.objectStore(name)])));
    });
  }
}
