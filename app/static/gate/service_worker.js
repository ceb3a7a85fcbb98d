// Serves the page from this device, so that it opens without a network. The service puts the list of files before it.

/** @type {any} */
const worker = self;
const { version, files } = worker.GATE_FILES;
const SHELL = "/gate/shell";

worker.addEventListener("install", (/** @type {any} */ event) => {
  const requests = [SHELL, ...files].map((path) => new Request(path, { cache: "reload" }));
  event.waitUntil(caches.open(version).then((cache) => cache.addAll(requests)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (/** @type {any} */ event) => {
  const deleteOld = async () => {
    for (const name of await caches.keys()) if (name !== version && name.startsWith("gate-")) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(deleteOld());
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== worker.location.origin || url.search) return;
  const path = url.pathname === "/gate" ? SHELL : url.pathname;
  if (path !== SHELL && !files.includes(path)) return;
  event.respondWith(caches.open(version).then(async (cache) => (await cache.match(path)) ?? fetch(request)));
});
