// The worker that reads codes in frames, where the browser has no detector. Only its own policy allows WebAssembly.

import { prepareZXingModule, readBarcodes } from "/static/vendor/zxing-wasm/reader/index.js";

prepareZXingModule({ overrides: { locateFile: (/** @type {string} */ name) => `/static/vendor/zxing-wasm/reader/${name}` } });
const OPTIONS = { formats: ["QRCode", "Aztec", "DataMatrix", "PDF417", "Code128"], tryHarder: true, maxNumberOfSymbols: 1 };

self.onmessage = async (event) => {
  const codes = await readBarcodes(event.data, OPTIONS).catch(() => []);
  self.postMessage(codes[0]?.text || null);
};
