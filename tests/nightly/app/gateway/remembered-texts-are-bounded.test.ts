/**
 * Tests that the gateway's cache of Host values and header names is bounded. Nearly every request repeats the
 * same names, but a client can also send endless new ones.
 */
import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { RawClient, spell } from "../../../support/http/raw-http.ts";

const REQUESTS = 2_000;
const NAMES = 10;
/** The maximum growth of strings in memory: half of the 22 000 different hosts and names that are sent. */
const STRINGS_MAX = 11_000;

const service = useService();
const gateway = useGateway({ LOG_ACCESS_SAMPLE: "0" }, () => ({
  things: publicService(service.url, { path: "/things", methods: ["GET"] }),
}));

// GW-155
test("requests with made-up hosts and header names are served, and the names do not stay in memory", async () => {
  await requests(100, "early");
  const before = strings();
  await requests(REQUESTS, "late");
  expect(strings() - before).toBeLessThan(STRINGS_MAX);
});

async function requests(count: number, mark: string): Promise<void> {
  const client = await RawClient.connect(gateway.url);
  for (let index = 0; index < count; index += 1) {
    const names = Array.from({ length: NAMES }, (_, name): [string, string] => [
      `x-${mark}-${index}-${name}`,
      "1",
    ]);
    client.send(spell("GET", "/things", [["Host", `${mark}-${index}.test`], ...names]));
    expect((await client.response()).status).toBe(200);
    service.requests.length = 0;
  }
  client.destroy();
}

function strings(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts.string ?? 0;
}
