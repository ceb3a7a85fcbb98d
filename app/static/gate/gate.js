// The page of the gate: starts the camera, listens to scanners that type, and shows verdicts.

import { Admissions } from "./admissions.js";
import { Camera } from "./camera.js";
import { Connection } from "./connection.js";
import { unlockSound } from "./sounds.js";
import { downloadUnsent, showCounts, showEnd, showRecent, showResults, showState, showUndone } from "./status_view.js";
import { Store } from "./store.js";
import { get, readTexts, say, setTimezone } from "./texts.js";
import { hideVerdict, showVerdict } from "./verdict_view.js";
import { listenToWedge } from "./wedge.js";

/** @typedef {import("./types.js").Settings} Settings */
/** @typedef {import("./types.js").Target} Target */

async function start() {
  readTexts(get("texts"));
  const store = await Store.open();
  /** @type {Settings} */
  const settings = { gate: "", hand: "right", sound: true, torch: false, direction: "in", ...(await store.readValue("settings")) };
  const admissions = new Admissions(store, new Connection(), settings);
  await admissions.load();
  const camera = new Camera(get("video"), (code, frameAt) => scan({ code }, frameAt));

  /** Scan, and show the verdict; the time between is measured. @param {Target} target @param {number} from */
  async function scan(target, from = performance.now()) {
    try {
      const outcome = await admissions.scan(target);
      if (!admissions.isEnded) show(outcome, target);
    } catch (error) {
      console.warn(error);
      show({ verdict: { result: "look", code: "FAILED", confirmed: false } }, target);
    }
    requestAnimationFrame(() => performance.measure("gate-verdict", { start: from, end: performance.now() }));
  }

  /** @param {import("./admissions.js").Outcome} outcome @param {Target} target */
  function show({ verdict, scan: kept, allow }, { code, placeId }) {
    showVerdict(verdict, {
      isAudible: settings.sound,
      isDaily: admissions.list.info?.event.reentry === "daily",
      admit: verdict.isTraining ? undefined : (count) => scan({ code, placeId, count }),
      allow: allow && (async () => show(await allow(), { code, placeId })),
      undo: kept && (() => (admissions.undo(kept.nonce), hideVerdict(), showUndone(verdict))),
    });
  }

  let isDrawing = false;
  /** Draw what has changed, once a frame. */
  function draw() {
    isDrawing = false;
    if (admissions.list.info) setTimezone(admissions.list.info.event.timezone);
    if (!settings.gate && admissions.device) setGate(admissions.device.name.split(",")[0]);
    showState(admissions);
    showEnd(admissions);
    get("direction").hidden = admissions.list.info?.event.reentry !== "counted";
    get("scanner").dataset.hand = settings.hand;
    if (get("recent-part").open) showRecent(admissions);
    if (get("counts-part").open) showCounts(admissions);
    showResults(admissions, get("query").value, (placeId) => scan({ placeId }));
    if (admissions.isEnded) {
      camera.stop();
      hideVerdict();
    }
  }
  admissions.onChange = admissions.connection.onChange = () => {
    if (!isDrawing) setTimeout(draw, 30);
    isDrawing = true;
  };

  async function startCamera() {
    unlockSound();
    get("camera-note").textContent = "";
    get("video").hidden = false;
    try {
      await camera.start();
      get("start").hidden = true;
      get("torch").hidden = !camera.hasTorch;
      await camera.setTorch(settings.torch);
      await navigator.wakeLock?.request("screen").catch(() => {});
    } catch (error) {
      get("video").hidden = true;
      get("camera-note").textContent = say(/** @type {Error} */ (error).name === "NotAllowedError" ? "cameraRefused" : "cameraMissing");
    }
  }

  /** @param {string} name */
  function setGate(name) {
    get("gate-input").value = name;
    save({ gate: name });
  }

  /** @param {Partial<Settings>} changes */
  function save(changes) {
    Object.assign(settings, changes);
    store.writeValues({ settings });
    admissions.onChange();
  }

  /** @param {boolean} isOn */
  function setTraining(isOn) {
    admissions.isTraining = get("training-input").checked = isOn;
    get("training").hidden = !isOn;
    get("scanner").dataset.training = String(isOn);
  }

  get("start").onclick = startCamera;
  get("torch").onclick = () => camera.setTorch((settings.torch = !settings.torch)).then(() => save({}));
  get("verdict-next").onclick = hideVerdict;
  get("query").oninput = () => {
    admissions.onChange();
    // On a small phone the results would be below the keyboard.
    if (get("query").value) get("search").scrollIntoView({ block: "start" });
  };
  get("search").onsubmit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const code = get("query").value.trim();
    const isKnown = (await admissions.list.find({ code })) !== null;
    if (code.length > 1 && !isKnown && !admissions.search(code).length) await admissions.loadDetails(code);
    const places = isKnown ? [] : admissions.search(code);
    if (places.length === 1 && places[0][5] !== "c" && !admissions.mayReenter) {
      get("query").value = "";
      return scan({ placeId: places[0][0] });
    }
    if (!code || places.length) return;
    get("query").value = "";
    await scan({ code });
  };
  get("gate-input").value = settings.gate;
  get("gate-input").onchange = () => save({ gate: get("gate-input").value.trim().slice(0, 80) });
  get("sound-input").checked = settings.sound;
  get("sound-input").onchange = () => save({ sound: get("sound-input").checked });
  for (const name of /** @type {const} */ (["hand", "direction"])) {
    for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
      const choice = /** @type {HTMLInputElement} */ (input);
      choice.checked = settings[name] === choice.value;
      choice.onchange = () => save({ [name]: choice.value });
    }
  }
  get("training-input").checked = false;
  get("training-input").onchange = () => setTraining(get("training-input").checked);
  get("training-end").onclick = () => setTraining(false);
  get("recent-part").ontoggle = get("counts-part").ontoggle = admissions.onChange;
  get("unsent-download").onclick = () => downloadUnsent(admissions);
  get("unsent-drop").onclick = () => admissions.dropUnsent();
  listenToWedge((code) => (unlockSound(), scan({ code })));
  addEventListener("online", () => admissions.wake());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) admissions.wake();
    if (!document.hidden && camera.track) startCamera();
  });
  setInterval(() => showState(admissions), 1000);

  get("plain")?.remove();
  get("scanner").hidden = false;
  draw();
  admissions.run();
  navigator.storage?.persist?.();
  await navigator.serviceWorker?.register("/gate/service-worker.js", { scope: "/gate" });
}

// Browsers give the camera and this device's storage only to secure pages; the form works without.
if (isSecureContext && !new URLSearchParams(location.search).has("form")) start().catch(console.error);
