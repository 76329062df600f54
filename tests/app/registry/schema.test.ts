import { describe, expect, test } from "bun:test";
import { documentSchemaText } from "../../../apps/registry/document-schema/document-schema.ts";
import { useRegistry } from "./bed.ts";

const registry = useRegistry();

/** Requests the document schema without the admin token. */
const ask = (init?: RequestInit, more = "") => fetch(`${registry.url}/schema/routes.json${more}`, init);

describe("GET /schema/routes.json", () => {
  // RG-91
  test("returns the document schema without a token", async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/schema+json");
    expect(await response.text()).toBe(documentSchemaText());
  });

  // RG-91
  test("returns 304 to a client that has the current schema", async () => {
    const { headers } = await ask();
    const etag = headers.get("etag") ?? "";
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask({ headers: { "If-None-Match": given } });
      expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await ask({ headers: { "If-None-Match": '"other"' } })).status).toBe(200);
  });
});
