/** Tests exports of usage in CSV and NDJSON (AU-114, AU-115). */
import { describe, expect, test } from "bun:test";
import { ulid } from "ulid";
import { json, sharedAudit } from "./bed.ts";
import { HOUR_MS, reportUsage, StandingClock, usageCount } from "./usage-bed.ts";

const HOUR = "2026-03-04T05:00:00.000Z";
const NOW = "2026-03-04T06:30:00.000Z";
const RANGE = "from=2026-01-01T00:00:00Z&to=2026-04-01T00:00:00Z";
const CSV = { Accept: "text/csv" };
const NDJSON = { Accept: "application/x-ndjson" };
const TOTALS =
  "requests,refused,refused_limit,refused_labels,refused_other,failed,bytes_in,bytes_out,duration_ms";
const NUMBERS = "10,6,3,2,1,1,100,2000,50";

const audit = sharedAudit({ clock: new StandingClock(Date.parse(NOW)) });

const report = (counts: unknown[]) => reportUsage(audit.internalUrl, counts, NOW);
const exported = async (organization_id: string, query: string, headers: Record<string, string>) =>
  (await audit.get(`/organizations/${organization_id}/usage?${query}`, headers)).text();

/** Returns the items of all pages of an organization's usage. */
async function allPages(organization_id: string, query: string): Promise<{ id: string }[]> {
  const items: { id: string }[] = [];
  for (let after = ""; ; ) {
    const path = `/organizations/${organization_id}/usage?${query}&limit=9${after}`;
    const { usage, has_more } = await json(await audit.get(path));
    items.push(...usage);
    if (!has_more) return items;
    after = `&starting_after=${encodeURIComponent(items.at(-1)?.id ?? "")}`;
  }
}

describe("an export of usage", () => {
  // AU-115
  test.each([
    ["day", "id,from,to,", "2026-03-04T00:00:00.000Z,2026-03-04T00:00:00.000Z,2026-03-05T00:00:00.000Z,"],
    ["hour", "id,from,to,", `${HOUR},${HOUR},2026-03-04T06:00:00.000Z,`],
    [
      "service",
      "id,from,to,service,platform,",
      "widgets,2026-01-01T00:00:00.000Z,2026-04-01T00:00:00.000Z,widgets,false,",
    ],
    [
      "route",
      "id,from,to,service,method,route,platform,",
      "widgets GET /org/widgets/{widget_id},2026-01-01T00:00:00.000Z,2026-04-01T00:00:00.000Z,widgets,GET,/org/widgets/{widget_id},false,",
    ],
    [
      "key",
      "id,from,to,member_id,key_prefix,",
      "member-1 ,2026-01-01T00:00:00.000Z,2026-04-01T00:00:00.000Z,member-1,,",
    ],
  ])("in CSV has the fields of an item by %s as columns", async (by, names, cells) => {
    const id = ulid();
    await report([usageCount(id, HOUR, { key_prefix: null })]);
    const response = await audit.get(`/organizations/${id}/usage?${RANGE}&by=${by}`, CSV);
    expect(response.headers.get("Content-Type")).toStartWith("text/csv");
    expect(response.headers.get("Content-Disposition")).toBe('attachment; filename="usage.csv"');
    expect(response.headers.get("Vary")).toBe("Accept");
    expect(await response.text()).toBe(`${names}${TOTALS}\n${cells}${NUMBERS}\n`);
  });

  // AU-114, AU-126
  test("has the items of all pages in the same order, and ignores `limit`", async () => {
    const id = ulid();
    const counts = Array.from({ length: 250 }, (_, number) =>
      usageCount(id, new Date(Date.parse(HOUR) - number * HOUR_MS).toISOString(), {
        service: `service-${number}`,
        route: `/org/${number}`,
        member_id: `member ${number}`,
        key_prefix: number % 2 === 0 ? null : "=1",
      }),
    );
    await report(counts);
    for (const by of ["hour", "day", "service", "route", "key"]) {
      const pages = await allPages(id, `${RANGE}&by=${by}`);
      const text = await exported(id, `${RANGE}&by=${by}&limit=1`, NDJSON);
      expect(
        text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      ).toEqual(pages);
      expect(new Set(pages.map(({ id }) => id)).size).toBe(pages.length);
      const csv = await exported(id, `${RANGE}&by=${by}&limit=1`, CSV);
      expect(csv.trimEnd().split("\n")).toHaveLength(pages.length + 1);
    }
    const after = encodeURIComponent(counts[200]?.hour ?? "");
    const rest = await exported(id, `${RANGE}&by=hour&starting_after=${after}`, NDJSON);
    expect(rest.trimEnd().split("\n")).toHaveLength(200);
    const narrow = `from=${counts[9]?.hour}&to=${counts[0]?.hour}&by=hour`;
    expect((await exported(id, narrow, NDJSON)).trimEnd().split("\n")).toHaveLength(9);
  });
});
