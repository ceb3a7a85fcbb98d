// Requests to the service, and the stream of changes. The token of the device stays in memory.

const SCAN_MILLISECONDS = 1500;
const SILENCE_MILLISECONDS = 10_000;

/** The service did not answer in time, or cannot answer now. */
export class Unreachable extends Error {}
/** The service refuses the token of this device. */
export class DeviceEnded extends Error {}

export class Connection {
  constructor() {
    this.token = "";
    this.isOnline = true;
    this.isFollowing = false;
    /** @type {() => void} */
    this.onChange = () => {};
  }

  /** Fetch the token and the names of the device. Throws DeviceEnded, Unreachable. */
  async openSession() {
    const { ok, data, code } = await this.send("GET", "/gate/session");
    if (!ok) throw new Unreachable(code);
    this.token = data.token;
    return data;
  }

  /**
   * Send a request, and return the parts of the answer's envelope. Throws DeviceEnded, Unreachable.
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {number} [milliseconds]
   * @returns {Promise<{ok: boolean, status: number, code: string, message: string, data: Record<string, any>}>}
   */
  async send(method, path, body, milliseconds = 20_000) {
    try {
      const response = await fetch(path, {
        method,
        headers: { ...this.buildHeaders(), ...(body && { "Content-Type": "application/json" }) },
        body: body && JSON.stringify(body),
        cache: "no-store",
        signal: AbortSignal.timeout(milliseconds),
      });
      if (response.status === 401) throw new DeviceEnded();
      if (response.status === 429 || response.status >= 500) throw new Unreachable(String(response.status));
      const envelope = await response.json();
      this.setOnline(true);
      const { shortMessage: code, message, data } = envelope;
      return { ok: response.ok, status: response.status, code, message, data };
    } catch (error) {
      if (error instanceof DeviceEnded) throw error;
      this.setOnline(false);
      throw new Unreachable(String(error));
    }
  }

  /** Send a scan; the gate does not wait long for the answer. @param {string} path @param {object} body */
  sendScan(path, body) {
    return this.send("POST", path, body, SCAN_MILLISECONDS);
  }

  /**
   * Read the stream until it ends or is silent. `act` gets each event. Throws DeviceEnded.
   * @param {string} path
   * @param {string} position
   * @param {(name: string, data: any, position: string) => Promise<void>} act
   */
  async follow(path, position, act) {
    const abort = new AbortController();
    let timer = setTimeout(() => abort.abort(), SILENCE_MILLISECONDS);
    try {
      const headers = { ...this.buildHeaders(), "Last-Event-ID": position };
      const response = await fetch(path, { headers, cache: "no-store", signal: abort.signal });
      if (response.status === 401) throw new DeviceEnded();
      if (!response.ok || !response.body) return;
      this.setFollowing(true);
      this.setOnline(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENCE_MILLISECONDS);
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) await this.readEvent(block, act);
      }
    } catch (error) {
      if (error instanceof DeviceEnded) throw error;
    } finally {
      clearTimeout(timer);
      abort.abort();
      this.setFollowing(false);
    }
  }

  /** @param {string} block @param {(name: string, data: any, position: string) => Promise<void>} act */
  async readEvent(block, act) {
    /** @type {Record<string, string>} */
    const fields = {};
    for (const line of block.split("\n")) {
      const at = line.indexOf(": ");
      if (at >= 0) fields[line.slice(0, at)] = line.slice(at + 2);
    }
    await act(fields.event ?? "", fields.data ? JSON.parse(fields.data) : {}, fields.id ?? "");
  }

  /** @returns {Record<string, string>} */
  buildHeaders() {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {};
  }

  /** @param {boolean} value */
  setOnline(value) {
    if (this.isOnline === value) return;
    this.isOnline = value;
    this.onChange();
  }

  /** @param {boolean} value */
  setFollowing(value) {
    this.isFollowing = value;
    this.onChange();
  }
}
