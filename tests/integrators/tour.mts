// From signing in to a live stream, with openapi-fetch and the generated types: BASE, EMAIL and PASSWORD in the environment.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./event-commerce.js";

const { BASE, EMAIL, PASSWORD } = process.env as Record<string, string>;
const visitor = createClient<paths>({ baseUrl: BASE });

const refused = await visitor.POST("/api/auth/login", { body: { email: "no-address", password: "" } });
assert.equal(refused.error?.shortMessage, "VALIDATION_FAILED");
assert.deepEqual((refused.error!.data.errors as { path: string }[]).map((item) => item.path), ["email", "password"]);

const signedIn = await visitor.POST("/api/auth/login", { body: { email: EMAIL, password: PASSWORD } });
const headers = { Authorization: `Bearer ${signedIn.data!.data.accessToken}` };
const client = createClient<paths>({ baseUrl: BASE, headers });

const cover = await client.POST("/api/events/upload-cover", {
  body: { file: new Blob([readFileSync("cover.jpg")]) as unknown as string },
  bodySerializer: ({ file }) => {
    const form = new FormData();
    form.append("file", file as unknown as Blob, "cover.jpg");
    return form;
  },
});
const coverImageUrl = cover.data!.data.url;

for (const name of ["River Nights", "River Days", "River Mornings"]) {
  const made = await client.POST("/api/events", {
    body: {
      name, venue: "River grounds", city: "Windhoek", country: "NA", visibility: "published", coverImageUrl,
      ticketTypes: [{ name: "Weekend", priceMinor: 85000, quantity: 10 }],
      startDate: "2031-06-04T18:00:00", endDate: "2031-06-05T02:00:00",
    },
  });
  assert.equal(made.response.status, 201);
}

const names: string[] = [];
let cursor: string | undefined;
let eventId = "";
do {
  const query = { limit: 2, cursor };
  const { data } = await visitor.GET("/api/events/public/discover", { params: { query } });
  for (const event of data!.data.events) names.push(event.name), (eventId = event.id);
  cursor = data!.data.pagination.nextCursor ?? undefined;
} while (cursor);
assert.deepEqual(names.sort(), ["River Days", "River Mornings", "River Nights"]);

const path = { eventId };
const read = await client.GET("/api/events/{id}", { params: { path: { id: eventId } } });
const etag = read.response.headers.get("ETag")!;
const body = { venue: "Old brewery" };
const changed = await client.PATCH("/api/events/{id}", { params: { path: { id: eventId }, header: { "If-Match": etag } }, body });
assert.equal(changed.data!.data.venue, "Old brewery");
const late = await client.PATCH("/api/events/{id}", { params: { path: { id: eventId }, header: { "If-Match": etag } }, body });
assert.equal(late.response.status, 412);

const file = await client.GET("/api/events/{eventId}/inventory/export.csv", {
  params: { path },
  parseAs: "blob",
});
assert.match(await (file.data as unknown as Blob).text(), /name/);

const stopped = new AbortController();
const stream = await client.GET("/api/events/{eventId}/inventory/stream", {
  params: { path },
  parseAs: "stream",
  signal: stopped.signal,
});
const { value } = await (stream.data as unknown as ReadableStream<Uint8Array>).getReader().read();
assert.match(new TextDecoder().decode(value), /event: |retry: |: /);
stopped.abort();
console.log("done");
