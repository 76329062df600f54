import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { service, useRegistry } from "../../../app/registry/bed.ts";
import { waitFor } from "../../../support/index.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const LOG_FILE = join(temporaryFolder("edge"), "registry.log");
const registry = useRegistry({ env: { EDGE_DOCUMENT_REFRESH_MS: "600000", LOG_FILE } });

/** The size of a large description. Seventeen of them exceed what the registry keeps. */
const LARGE = 4_100_000;

// RG-159
test("descriptions that are too large together leave a smaller one its place", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      const name = new URL(url).pathname.slice(1);
      const index = Number(name.replace("large", ""));
      const description = name === "small" ? "d".repeat(LARGE / 2) : "d".repeat(LARGE + index);
      const paths = { [`/${name}`]: { get: { summary: `From ${name}`, responses: {} } } };
      return Response.json({ openapi: "3.1.0", info: { title: "T", version: "1", description }, paths });
    },
  });
  const config = (name: string) => ({ ...service(`/${name}`), url: server.url.origin, openapi: `/${name}` });
  const states = async (): Promise<{ service: string; status: string }[]> =>
    (await registry.call("GET", "/edge/openapi.json")).body["x-service-documents"];
  const large = Array.from({ length: 17 }, (_, index) => `large${index}`);
  await registry.apply(Object.fromEntries(large.map((name) => [name, config(name)])));
  await waitFor(async () => (await readFile(LOG_FILE, "utf8")).includes("too large together"));
  const current = async () => (await states()).filter(({ status }) => status === "current");
  await waitFor(async () => (await current()).length === 16);
  await registry.put("small", config("small"));
  await waitFor(async () => (await current()).some((each) => each.service === "small"));
  const { body } = await registry.call("GET", "/edge/openapi.json");
  expect(body.paths["/small"].get.summary).toBe("From small");
}, 120_000);
