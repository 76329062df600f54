/** Tests the usage reports of gateways, and the usage that organizations read (AU-120 to AU-126). */
import { describe, expect, test } from "bun:test";
import { USAGE_COUNTS_MAX } from "@ostiary/lib/contracts/usage-contract";
import { ulid } from "ulid";
import { services } from "../../support/index.ts";
import { wordsOf } from "../../support/words.ts";
import { json, sharedAudit, wrongFields } from "./bed.ts";
import { StandingClock, usageCount } from "./usage-bed.ts";

const HOUR = "2026-03-04T05:00:00.000Z";
const NEXT_HOUR = "2026-03-04T06:00:00.000Z";
const RANGE = "from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z";
/** The time at which the service's clock stands still. */
const NOW = Date.parse("2026-03-04T06:30:00.000Z");

const audit = sharedAudit({ clock: new StandingClock(NOW) });

/** Returns one item of a report's `counts` for the hour {@link HOUR}, with `changes` applied. */
function count(organization_id: string, changes: Record<string, unknown> = {}) {
  return usageCount(organization_id, HOUR, changes);
}

function report(counts: unknown[], changes: Record<string, unknown> = {}) {
  return { reported_until: "2026-03-04T06:29:59.000Z", is_last: false, uncounted: 0, counts, ...changes };
}

function put(instance: string, number: number | string, body: unknown) {
  return audit.send("PUT", `usage/${instance}/${number}`, body);
}

const get = (organization_id: string, query = RANGE) =>
  audit.get(`/organizations/${organization_id}/usage?${query}`);

async function usageOf(organization_id: string, query = RANGE) {
  const response = await get(organization_id, query);
  const body = await json(response);
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  return body;
}

describe("a usage report", () => {
  // AU-120
  test.skipIf(!services().postgres.real)(
    "counts once even if it comes twice at once, beside reports of other gateways in opposite orders",
    async () => {
      const ids = Array.from({ length: 50 }, () => ulid());
      const run = ulid();
      const responses = await Promise.all(
        Array.from({ length: 16 }, (_, turn) => {
          const counts = ids.map((id) => count(id));
          return put(`gateway-${run}-${turn >> 1}`, 1, report(turn % 2 === 0 ? counts : counts.toReversed()));
        }),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([
        ...Array(8).fill(200),
        ...Array(8).fill(201),
      ]);
      for (const id of ids) expect((await usageOf(id)).usage[0].requests).toBe(80);
    },
  );

  // AU-122
  test("may have two counts for the same key, and then both are added", async () => {
    const id = ulid();
    await put(`gateway-${ulid()}`, 1, report([count(id), count(id), count(id, { key_prefix: null })]));
    expect((await usageOf(id)).usage[0].requests).toBe(30);
    expect((await usageOf(id, `${RANGE}&by=key`)).usage.map(({ requests }: Part) => requests)).toEqual([
      10, 20,
    ]);
  });

  // AU-122
  test("may have the maximum number of counts with the longest texts, and unknown fields of a newer gateway", async () => {
    const id = ulid();
    const counts = Array.from({ length: USAGE_COUNTS_MAX }, (_, number) =>
      count(id, {
        service: "s".repeat(128),
        route: `/${"r".repeat(1_015)}/${String(number).padStart(7, "0")}`,
        member_id: "ü".repeat(128),
        key_prefix: "k".repeat(64),
        newer: true,
      }),
    );
    expect((await put(`gateway-${ulid()}`, 1, report(counts, { newer: [] }))).status).toBe(201);
    expect((await usageOf(id)).usage[0].requests).toBe(10 * USAGE_COUNTS_MAX);
  });

  // AU-121
  test("counts nothing if any field is invalid: it is 422 and names every violation", async () => {
    const id = ulid();
    const wrong = report(
      [
        count(id),
        count("", { hour: "2026-03-04T05:30:00.000Z", service: "x".repeat(129), method: 7 }),
        count(id, { requests: -1, failed: 1.5, bytes_in: 2 ** 53, bytes_out: "1", duration_ms: null }),
        count(id, { member_id: "a\u0000b", key_prefix: "\0", refused: { limit: 1 }, route: "/ü" }),
        count(id, { hour: "2026-02-30T05:00:00.000Z" }),
        count(id, { hour: "2026-03-06T05:00:00.000Z" }),
        count(id, { hour: "2024-03-04T05:00:00.000Z" }),
        "x",
      ],
      { reported_until: "yesterday", is_last: "no", uncounted: -1 },
    );
    const fields = await wrongFields(await put(`gateway-${ulid()}`, 1, wrong));
    expect(fields.sort()).toEqual(
      [
        ...["organization_id", "hour", "service", "method"].map((name) => `counts[1].${name}`),
        ...["requests", "failed", "bytes_in", "bytes_out", "duration_ms"].map((name) => `counts[2].${name}`),
        ...["member_id", "key_prefix", "refused.labels", "refused.other", "route"].map(
          (name) => `counts[3].${name}`,
        ),
        ...wordsOf("counts[4].hour counts[5].hour counts[6].hour counts[7] reported_until is_last uncounted"),
      ].sort(),
    );
    expect((await usageOf(id)).usage).toEqual([]);
  });

  // AU-121
  test("is refused for an invalid URL, a body that is too large, and a body that is not JSON", async () => {
    const id = ulid();
    const body = report([count(id)]);
    expect(await wrongFields(await put("a%20b", "01", body))).toEqual(["instance", "number"]);
    expect(await wrongFields(await put("x".repeat(129), "1e3", body))).toEqual(["instance", "number"]);
    expect(await wrongFields(await put("gateway", "9".repeat(16), body))).toEqual(["number"]);
    expect(await wrongFields(await put("gateway", 1, []))).not.toEqual([]);
    const many = report(Array(USAGE_COUNTS_MAX + 1).fill(count(id)));
    expect(await wrongFields(await put("gateway", 1, many))).toEqual(["counts"]);
    expect((await put("gateway", 1, "{")).status).toBe(400);
    expect((await put("gateway", 1, `"${"x".repeat(4_194_304)}"`)).status).toBe(413);
    expect((await usageOf(id)).usage).toEqual([]);
  });
});

interface Part {
  id: string;
  requests: number;
  service?: string;
  platform?: boolean;
}

describe("GET /organizations/{organization_id}/usage", () => {
  // AU-123, AU-124
  test("returns sums by day, with refusals by reason", async () => {
    const id = ulid();
    await put(`gateway-${ulid()}`, 1, report([count(id), count(id, { hour: NEXT_HOUR, service: "gears" })]));
    expect(await usageOf(id)).toEqual({
      usage: [
        {
          id: "2026-03-04T00:00:00.000Z",
          from: "2026-03-04T00:00:00.000Z",
          to: "2026-03-05T00:00:00.000Z",
          requests: 20,
          refused: 12,
          refused_limit: 6,
          refused_labels: 4,
          refused_other: 2,
          failed: 2,
          bytes_in: 200,
          bytes_out: 4_000,
          duration_ms: 100,
        },
      ],
      has_more: false,
      gaps: expect.any(Array),
      quotas: [],
    });
  });

  // AU-124
  test("groups by hour, service, route and key", async () => {
    const id = ulid();
    await put(
      `gateway-${ulid()}`,
      1,
      report([
        count(id, { requests: 1 }),
        count(id, { requests: 2, hour: NEXT_HOUR }),
        count(id, { requests: 4, service: "gears", method: "POST", route: "/org/gears" }),
        count(id, { requests: 8, member_id: "member-2", key_prefix: null }),
      ]),
    );
    const divided = async (by: string) => (await usageOf(id, `${RANGE}&by=${by}`)).usage;
    const from = "2026-03-01T00:00:00.000Z";
    const to = "2026-04-01T00:00:00.000Z";
    expect(await divided("hour")).toMatchObject([
      { id: HOUR, from: HOUR, to: NEXT_HOUR, requests: 13 },
      { id: NEXT_HOUR, from: NEXT_HOUR, to: "2026-03-04T07:00:00.000Z", requests: 2 },
    ]);
    expect(await divided("service")).toMatchObject([
      { id: "gears", from, to, service: "gears", requests: 4 },
      { id: "widgets", from, to, service: "widgets", requests: 11 },
    ]);
    const route = "/org/widgets/{widget_id}";
    expect(await divided("route")).toMatchObject([
      { service: "gears", method: "POST", route: "/org/gears", requests: 4 },
      { id: `widgets GET ${route}`, service: "widgets", method: "GET", route, requests: 11 },
    ]);
    expect(await divided("key")).toMatchObject([
      { member_id: "member-1", key_prefix: "ostiary-k-2-abcd", requests: 7 },
      { member_id: "member-2", key_prefix: null, requests: 8 },
    ]);
  });

  // AU-125
  test("includes the hours that begin in the range, by default those of the current month", async () => {
    const id = ulid();
    const hours = ["2026-02-28T23:00:00.000Z", "2026-03-01T00:00:00.000Z", HOUR, NEXT_HOUR];
    await put(`gateway-${ulid()}`, 1, report(hours.map((hour) => count(id, { hour }))));
    const total = async (query: string) =>
      (await usageOf(id, query)).usage.reduce((sum: number, { requests }: Part) => sum + requests, 0);
    expect(await total("")).toBe(30);
    expect(await total("from=2026-02-28T23:00:00Z")).toBe(40);
    expect(await total("from=2026-02-28T23:00:00.001Z&to=2026-03-04T06:00:00Z")).toBe(20);
    expect(await total("from=2026-03-04T07:30:00%2B02:00&to=2026-03-04T06:00:00.001Z")).toBe(10);
    expect(await total("from=2026-03-05T00:00:00Z&to=2026-03-04T00:00:00Z")).toBe(0);
  });

  // AU-202
  test("leaves out requests of the platform's services unless they are asked for, and marks them", async () => {
    const id = ulid();
    const portal = count(id, { service: "portal", route: "/portal", requests: 7 });
    await put(`gateway-${ulid()}`, 1, report([count(id), portal, count(id, { service: "PORTAL" })]));
    const requests = async (query: string) =>
      (await usageOf(id, `${RANGE}&${query}`)).usage.map((part: Part) => part.requests);
    for (const by of ["hour", "day", "key"]) {
      expect({ by, sums: await requests(`by=${by}`) }).toEqual({ by, sums: [20] });
      expect(await requests(`by=${by}&include_platform=false`)).toEqual([20]);
      expect(await requests(`by=${by}&include_platform=true`)).toEqual([27]);
    }
    for (const by of ["service", "route"]) {
      const marks = async (query: string) =>
        (await usageOf(id, `${RANGE}&by=${by}&${query}`)).usage.map((part: Part) => [
          part.service,
          part.platform,
        ]);
      const own = [
        ["PORTAL", false],
        ["widgets", false],
      ];
      expect(await marks("")).toEqual(own);
      expect(await marks("include_platform=true")).toEqual([own[0], ["portal", true], own[1]]);
    }
    for (const wrong of [
      "include_platform=yes",
      "include_platform=",
      "include_platform=true&include_platform=true",
    ])
      expect(await wrongFields(await get(id, `${RANGE}&${wrong}`))).toEqual(["include_platform"]);
  });

  // AU-125, AU-126
  test("is 422 for an invalid query, and each invalid parameter is named", async () => {
    const id = ulid();
    expect(
      await wrongFields(
        await get(id, "from=today&to=2026-13-01T00:00:00Z&by=week&limit=0&starting_after=&x=1"),
      ),
    ).toEqual(expect.arrayContaining(["from", "to", "by", "limit", "starting_after", "x"]));
    expect(await wrongFields(await get(id, "by=day&by=hour"))).toEqual(["by"]);
    expect(await wrongFields(await get(id, "from=2020-01-01T00:00:00Z"))).toEqual(["from"]);
    expect(await wrongFields(await get(id, "by=hour&starting_after=widgets"))).toEqual(["starting_after"]);
    expect(await wrongFields(await get(id, `by=key&starting_after=${"x".repeat(2_049)}`))).toEqual([
      "starting_after",
    ]);
    expect(await wrongFields(await get(id, "by=key&starting_after=%00"))).toEqual(["starting_after"]);
    expect(await wrongFields(await get("x".repeat(129)))).toEqual(["organization_id"]);
  });
});

describe("the gaps in an organization's usage", () => {
  const silent = "2026-03-04T06:28:59.000Z";
  const gapsOf = async (query = RANGE) =>
    (await usageOf(ulid(), query)).gaps.filter(({ after }: { after: string }) => after === silent);

  // AU-127
  test("name the last report of a gateway that is silent for a minute, until it reports again or stops", async () => {
    const instance = `gateway-${ulid()}`;
    await put(instance, 1, report([], { reported_until: silent }));
    expect(await gapsOf()).toEqual([{ after: silent }]);
    expect(await gapsOf("from=2026-03-05T00:00:00Z&to=2026-04-01T00:00:00Z")).toEqual([]);
    await put(instance, 2, report([], { reported_until: "2026-03-04T06:29:10.000Z" }));
    expect(await gapsOf()).toEqual([]);
    await put(instance, 3, report([], { reported_until: silent, is_last: true }));
    expect(await gapsOf()).toEqual([]);
  });
});
