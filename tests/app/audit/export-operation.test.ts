/**
 * Tests `GET .../audit-events/export`. The log itself returns the same export if the Accept header asks for
 * it.
 */
import { describe, expect, test } from "bun:test";
import { intent, json, requestId, sharedAudit, userIntent } from "./audit-service.ts";

const audit = sharedAudit();
const FORMATS = [
  ["csv", "text/csv"],
  ["ndjson", "application/x-ndjson"],
] as const;

async function written(): Promise<{ id: string; logs: string[] }> {
  const id = requestId();
  await audit.put(id, intent({ organization_id: `organization-of-${id}` }));
  await audit.put(requestId(), userIntent({ user_id: `user-of-${id}` }));
  return {
    id,
    logs: [`/organizations/organization-of-${id}/audit-events`, `/users/user-of-${id}/audit-events`],
  };
}

describe.each(FORMATS)("an export of format=%s", (format, type) => {
  // AU-81
  test(`equals the response of the log to Accept: ${type}, and ignores its own Accept header`, async () => {
    const { logs } = await written();
    for (const log of logs) {
      for (const filter of ["", "service=widgets&", "occurred_before=2020-01-01T00:00:00Z&"]) {
        const asked = await audit.get(`${log}/export?${filter}format=${format}`, {
          Accept: "application/json",
        });
        const negotiated = await audit.get(`${log}?${filter}`, { Accept: type });
        expect(asked.status).toBe(200);
        for (const name of ["Content-Type", "Content-Disposition", "Cache-Control"]) {
          expect(asked.headers.get(name)).toBe(negotiated.headers.get(name));
        }
        expect(await asked.text()).toBe(await negotiated.text());
      }
    }
  });

  // AU-81
  test("continues after an event, and has no body for HEAD", async () => {
    const { logs } = await written();
    const [log = ""] = logs;
    const { audit_events } = await json(await audit.get(log));
    const rest = await audit.get(`${log}/export?format=${format}&starting_after=${audit_events[0].id}`);
    expect((await rest.text()).split("\n").length).toBe(format === "csv" ? 2 : 1);
    const head = await fetch(`${audit.url}${log}/export?format=${format}`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});

// AU-81
test.each<[string, string[]]>([
  ["", ["format"]],
  ["format=", ["format"]],
  ["format=json", ["format"]],
  ["format=CSV", ["format"]],
  ["format=csv&format=ndjson", ["format"]],
  ["format=csv&limit=5", ["limit"]],
  ["format=csv&verbose=1", ["verbose"]],
  ["format=csv&starting_after=1", ["starting_after"]],
  ["format=csv&proof=true", ["proof"]],
  ["format=ndjson&proof=true&service=widgets", ["service"]],
  ["format=ndjson&proof=yes", ["proof"]],
  ["format=csv&occurred_after=yesterday&outcome=lost", ["occurred_after", "outcome"]],
])("an export with the query ?%s is 422, and names each wrong parameter", async (query, paths) => {
  for (const owner of ["organizations/o", "users/u"]) {
    const response = await audit.get(`/${owner}/audit-events/export?${query}`, { Accept: "text/csv" });
    expect(response.status).toBe(422);
    const fields: { path: string }[] = (await json(response)).error.details.fields;
    expect([...new Set(fields.map(({ path }) => path))].sort()).toEqual(paths);
  }
});

// AU-81
test("a proof is an export of format=ndjson", async () => {
  const { logs } = await written();
  for (const log of logs) {
    const lines = (await (await audit.get(`${log}/export?format=ndjson&proof=true`)).text())
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines.at(-1) ?? "")).toHaveProperty("format");
  }
});
