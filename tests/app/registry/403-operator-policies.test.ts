import { describe, expect, test } from "bun:test";
import { standInFor } from "../../support/during-tests.ts";
import { service, useRegistry } from "./bed.ts";
import { entry } from "./operators.ts";

const BOUNDS = { services: ["own-*"], paths: ["/own"], urls: ["http://upstream:8080"] };
const admin = useRegistry({ operators: [entry("team", "publisher", BOUNDS)] });
const team = standInFor(() => admin.as("team"));

const withPolicy = (path: string, policy: string, requests: number, shared = true) => ({
  ...service(path),
  url: path.startsWith("/own") ? "http://upstream:8080" : "http://elsewhere:8080",
  rate_limits: { [policy]: { requests, window_seconds: 60, shared } },
});

// RG-156
describe("a shared policy that a service of others uses", () => {
  test("cannot be declared by a publisher, with the same numbers or other ones", async () => {
    await admin.put("others-a", withPolicy("/others/a", "a", 10));
    for (const requests of [10, 11]) {
      const { status, body } = await team.put("own-a", withPolicy("/own/a", "a", requests));
      expect([status, body.error]).toMatchObject([
        403,
        {
          message: "Operator team may not publish the shared policy a in service own-a. Nothing was written.",
          details: { operator: "team", missing: [{ service: "own-a", policy: "a" }] },
        },
      ]);
      const document = { services: { "own-a": withPolicy("/own/a", "a", requests) } };
      expect((await team.call("POST", "/apply?dry_run=true", document)).status).toBe(403);
    }
    expect((await admin.call("GET", "/services/own-a")).status).toBe(404);
    expect((await admin.put("others-a", withPolicy("/others/a", "a", 12))).status).toBe(200);
  });

  test("stays in a publisher's service where an admin declared it, with its numbers", async () => {
    await admin.put("others-b", withPolicy("/others/b", "b", 10));
    await admin.put("own-b", withPolicy("/own/b", "b", 10));
    expect((await team.put("own-b", withPolicy("/own/b", "b", 10))).status).toBe(200);
    expect((await team.put("own-b", withPolicy("/own/b", "b", 11))).status).toBe(403);
    expect((await team.put("own-b", service("/own/b"))).status).toBe(200);
    expect((await team.put("own-b", withPolicy("/own/b", "b", 10))).status).toBe(403);
    const restore = await team.call("POST", "/services/own-b/revisions/1/restore");
    expect([restore.status, restore.body.error.details.missing]).toEqual([
      403,
      [{ service: "own-b", policy: "b" }],
    ]);
  });

  test("is never joined by a publisher who declares it at the same moment", async () => {
    const names = Array.from({ length: 6 }, (_, index) => `race-${index}`);
    await Promise.all(
      names.flatMap((name, index) => {
        const own = () => team.put(`own-${name}`, withPolicy(`/own/${name}`, name, 10));
        const other = () => admin.put(name, withPolicy(`/others/${name}`, name, 10));
        return (index % 2 === 0 ? [own, other] : [other, own]).map((write) => write());
      }),
    );
    const { changes } = (await admin.call("GET", "/changes?limit=100")).body;
    const order: string[] = changes.map((change: { service: string }) => change.service).toReversed();
    for (const name of names) {
      if (order.includes(`own-${name}`)) {
        expect(order.indexOf(`own-${name}`)).toBeLessThan(order.indexOf(name));
      }
    }
  });
});
