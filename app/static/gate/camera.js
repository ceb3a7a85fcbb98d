// The camera: frames are made smaller and read by the browser's own detector, or else by the vendored one in a worker.

const REPEAT_MILLISECONDS = 3000;
const IDLE_MILLISECONDS = 60;
const WIDTH = 800;

export class Camera {
  /**
   * @param {HTMLVideoElement} video
   * @param {(text: string, frameAt: number) => void} onCode gets each code, and when its frame was taken
   */
  constructor(video, onCode) {
    this.video = video;
    this.onCode = onCode;
    /** @type {MediaStreamTrack | null} */
    this.track = null;
    this.canvas = document.createElement("canvas");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { willReadFrequently: true }));
    /** @type {((frame: ImageData) => Promise<string | null>) | undefined} */
    this.read = undefined;
    this.frames = 0;
    this.lastCode = { text: "", seenAt: 0 };
  }

  /** Start the camera. Throws a DOMException if there is none or the person refuses. */
  async start() {
    const stream = await navigator.mediaDevices.getUserMedia({
      video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } },
    });
    this.stop();
    this.video.srcObject = stream;
    await this.video.play();
    this.track = stream.getVideoTracks()[0];
    this.read ??= await createReader();
    this.watch(this.track);
  }

  stop() {
    this.track?.stop();
    this.track = null;
  }

  get hasTorch() {
    return Boolean(/** @type {any} */ (this.track?.getCapabilities?.())?.torch);
  }

  /** @param {boolean} isOn */
  async setTorch(isOn) {
    const advanced = /** @type {any} */ ([{ torch: isOn }]);
    if (this.hasTorch) await this.track?.applyConstraints({ advanced });
  }

  /** Read frame after frame until the camera stops. @param {MediaStreamTrack} track */
  async watch(track) {
    while (this.track === track) {
      if (document.hidden || this.video.readyState < 2) await sleep(250);
      else {
        const frameAt = performance.now();
        const text = await this.read?.(this.takeFrame()).catch(() => null);
        if (text) this.report(text, frameAt);
        else await sleep(IDLE_MILLISECONDS);
      }
    }
  }

  /** Return the whole picture made smaller, or, every other time, its middle as it is: for codes far away. */
  takeFrame() {
    const { videoWidth, videoHeight } = this.video;
    this.frames += 1;
    const scale = this.frames % 2 ? Math.min(1, WIDTH / Math.max(videoWidth, videoHeight)) : 1;
    const [width, height] = [videoWidth, videoHeight].map((size) => Math.min(Math.round(size * scale), WIDTH));
    Object.assign(this.canvas, { width, height });
    const [left, top] = [(videoWidth - width / scale) / 2, (videoHeight - height / scale) / 2];
    this.context.drawImage(this.video, left, top, width / scale, height / scale, 0, 0, width, height);
    return this.context.getImageData(0, 0, width, height);
  }

  /** Report a code once, as long as it stays before the camera. @param {string} text @param {number} frameAt */
  report(text, frameAt) {
    const isRepeat = text === this.lastCode.text && frameAt - this.lastCode.seenAt < REPEAT_MILLISECONDS;
    this.lastCode = { text, seenAt: frameAt };
    if (!isRepeat) this.onCode(text, frameAt);
  }
}

/** @returns {Promise<(frame: ImageData) => Promise<string | null>>} */
async function createReader() {
  const Detector = /** @type {any} */ (window).BarcodeDetector;
  const formats = (await Detector?.getSupportedFormats?.().catch(() => [])) ?? [];
  if (!formats.includes("qr_code")) return createWorkerReader();
  const detector = new Detector({ formats });
  return async (frame) => (await detector.detect(frame))[0]?.rawValue ?? null;
}

/** @returns {(frame: ImageData) => Promise<string | null>} */
function createWorkerReader() {
  const worker = new Worker("/gate/decoder.js", { type: "module" });
  return (frame) =>
    new Promise((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.postMessage(frame, [frame.data.buffer]);
    });
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
