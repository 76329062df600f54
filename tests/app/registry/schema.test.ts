import { expect, test } from "bun:test";
import { documentSchemaText } from "../../../apps/registry/document-schema/document-schema.ts";
import { useRegistry } from "./bed.ts";

const registry = useRegistry();

// RG-91
test("GET /schema/routes.json returns the document schema without a token", async () => {
  const response = await fetch(`${registry.url}/schema/routes.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/schema+json");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(await response.text()).toBe(documentSchemaText());
});
