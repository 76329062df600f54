import { describe, expect, test } from "bun:test";
import type { RecordedChange } from "@ostiary/lib/contracts/registry-api";
import { deletionsIn, readOlder } from "../../../apps/console/registry/calls.ts";
import { Registry } from "../../../apps/console/registry/console-registry.ts";

const change = (service: string, revision: number, action: RecordedChange["action"]): RecordedChange => ({
  service,
  revision,
  action,
  operator: "admin",
  reason: null,
  link: null,
  request_id: "r-1",
  created_at: "2026-01-31T12:00:00.000Z",
});

describe("the deleted services", () => {
  // RG-173
  test("are those whose newest revision is a deletion, also if their changes have the same time", () => {
    const changes = [
      change("back", 2, "delete"),
      change("back", 3, "restore"),
      change("gone", 4, "delete"),
      change("gone", 3, "put"),
      change("gone", 2, "delete"),
      change("kept", 1, "apply"),
      change("older", 2, "delete"),
    ];
    const deletions = deletionsIn(changes).map(({ service, revision }) => `${service} ${revision}`);
    expect(deletions).toEqual(["gone 4", "older 2"]);
  });

  // RG-173
  test("are looked for page by page, a number of pages at a time, and never beyond the last page", async () => {
    const asked: (string | null)[] = [];
    const registry = new Registry("token", (address) => {
      const after = new URL(address, "http://any").searchParams.get("starting_after");
      asked.push(after);
      const revision = after === null ? 5 : Number(after.split(":")[1]) - 1;
      return Promise.resolve(
        Response.json({ changes: [change("widgets", revision, "put")], has_more: revision > 1 }),
      );
    });
    const first = await readOlder(registry, undefined, 3);
    expect([first.items.map(({ revision }) => revision), first.has_more]).toEqual([[5, 4, 3], true]);
    const rest = await readOlder(registry, first.items.at(-1), 3);
    expect([rest.items.map(({ revision }) => revision), rest.has_more]).toEqual([[2, 1], false]);
    expect(asked).toEqual([null, "widgets:5", "widgets:4", "widgets:3", "widgets:2"]);
  });
});
