import { describe, expect, test } from "bun:test";
import { BATCH_MAX } from "@ostiary/lib/contracts/audit";
import { wordsOf } from "../../support/words.ts";
import { intent, requestId, sharedAudit } from "./bed.ts";

const CSV = { Accept: "text/csv" };
const NDJSON = { Accept: "application/x-ndjson" };

describe("an export", () => {
  const audit = sharedAudit();

  // AU-43
  test("in CSV has a header line and one line for each event, with cells quoted where needed", async () => {
    const id = requestId();
    await audit.put(id, intent({ user_agent: 'a "quoted", name\nin two lines', params: { b: "1", a: '"' } }));
    await audit.patch(id, {
      outcome: "responded",
      status: 201,
      details: { name: { to: "é" } },
      created_id: "w-1",
    });
    const response = await audit.get(`/organizations/organization-1/audit-events?request_id=${id}`, CSV);
    expect(response.headers.get("Content-Type")).toStartWith("text/csv");
    expect(response.headers.get("Content-Disposition")).toContain("audit-events.csv");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const [names = "", ...lines] = (await response.text()).split("\n");
    expect(names.split(",")).toEqual(
      wordsOf(`
        id occurred_at request_id organization_id actor_member_id actor_auth_type actor_key_prefix
        service method route params ip user_agent outcome status details created_id
      `),
    );
    expect(lines.join("\n")).toEndWith(
      [
        `,${id},organization-1,member-1,member_apikey,ostiary-k-2-abcd,widgets,POST,/org/widgets/{widget_id},`,
        `"{""a"":""\\"""",""b"":""1""}",192.0.2.1,"a ""quoted"", name\nin two lines",responded,201,`,
        `"{""name"":{""to"":""é""}}",w-1\n`,
      ].join(""),
    );
  });

  // AU-44
  test("in NDJSON has one event on each line, with the same fields as in a page", async () => {
    for (let n = 0; n < 5; n++)
      await audit.put(requestId(), intent({ organization_id: "lines", user_agent: "a\nb" }));
    const response = await audit.get("/organizations/lines/audit-events", NDJSON);
    expect(response.headers.get("Content-Type")).toStartWith("application/x-ndjson");
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    const { audit_events } = await audit.list("/organizations/lines/audit-events");
    expect(lines.map((line) => JSON.parse(line))).toEqual(audit_events);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("of an empty log has no events", async () => {
    const query = "occurred_after=2026-01-02T00:00:00Z&occurred_before=2026-01-01T00:00:00Z";
    for (const path of ["/users/nobody/audit-events", `/users/user-1/audit-events?${query}`]) {
      expect(await (await audit.get(path, NDJSON)).text()).toBe("");
      expect((await (await audit.get(path, CSV)).text()).split("\n")).toHaveLength(2);
    }
  });

  // AU-42
  test("has every event once, newest first, whatever the limit, and continues after the last one that arrived", async () => {
    const log = "/organizations/many/audit-events";
    for (let batch = 0; batch < 5; batch++) {
      const intents = Array.from({ length: BATCH_MAX }, (_, n) => ({
        request_id: requestId(),
        ...intent({ organization_id: "many", service: `service-${n % 2}` }),
      }));
      expect((await audit.postIntents({ intents })).status).toBe(200);
    }
    const exported = async (query: string, headers: Record<string, string>) =>
      (await (await audit.get(`${log}?${query}`, headers)).text()).trimEnd().split("\n");
    const ids = (await exported("limit=1", NDJSON)).map((line) => JSON.parse(line).id);
    expect(ids).toHaveLength(5 * BATCH_MAX);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
    const csv = await exported("service=service-1", CSV);
    const middle = Math.floor(csv.length / 2);
    const cursor = csv[middle]?.slice(0, 26);
    const rest = await exported(`service=service-1&starting_after=${cursor}`, CSV);
    expect(rest.slice(1)).toEqual(csv.slice(middle + 1));
  });
});
