/**
 * Tests `GET .../audit-events/export`. The log itself returns the same export if the Accept header asks for
 * it.
 */
import { describe, expect, test } from "bun:test";
import { intent, json, requestId, sharedAudit, userIntent } from "./bed.ts";

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
});

// AU-81
test.each<[string, string[]]>([
  ["", ["format"]],
  ["format=json", ["format"]],
  ["format=csv&format=ndjson", ["format"]],
  ["format=csv&limit=5", ["limit"]],
  ["format=csv&proof=true", ["proof"]],
  ["format=ndjson&proof=true&service=widgets", ["service"]],
  ["format=csv&occurred_after=yesterday&outcome=lost", ["occurred_after", "outcome"]],
])("an export with the query ?%s is 422, and names each wrong parameter", async (query, paths) => {
  for (const owner of ["organizations/o", "users/u"]) {
    const response = await audit.get(`/${owner}/audit-events/export?${query}`, { Accept: "text/csv" });
    expect(response.status).toBe(422);
    const fields: { path: string }[] = (await json(response)).error.details.fields;
    expect([...new Set(fields.map(({ path }) => path))].sort()).toEqual(paths);
  }
});
