/** Tests the feed of usage events, which billing systems read (AU-128 to AU-130). */
import { describe, expect, test } from "bun:test";
import { systemClock } from "@ostiary/lib/async";
import { isUlid } from "@ostiary/lib/domain/schemas";
import { ulid } from "ulid";
import { usageEventWriter, writeUsageEvents } from "../../../apps/audit/usage/usage-event-writer.ts";
import { services, waitFor } from "../../support/index.ts";
import { json, sharedAudit, sharedLog, sqlOn, wrongFields } from "./bed.ts";
import { HOUR_MS, usageCount } from "./usage-bed.ts";

/**
 * The next full hour. The service publishes usage only after its hour is over, so nothing of this hour is
 * published until a test calls {@link publish}.
 */
const HOUR = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
const TOKEN = "feed-token";
const CREDENTIAL = { "X-Platform-Internal-Token": TOKEN };

interface Event {
  id: string;
  subject: string;
  time: string;
  data: { requests: number; route: string; service: string; platform: boolean };
}

const audit = sharedAudit({ env: { INTERNAL_AUTH_TOKEN: TOKEN } });
const database = sharedLog(audit);

function report(instance: string, number: number, counts: unknown[]) {
  const body = { reported_until: new Date().toISOString(), is_last: false, uncounted: 0, counts };
  return audit.send("PUT", `usage/${instance}/${number}`, body, CREDENTIAL);
}

function get(query = "", headers: Record<string, string> = CREDENTIAL) {
  return fetch(`${audit.internalUrl}/internal/usage-events${query}`, { headers });
}

/** Reads all events after the id `after`, or all events if `after` is null, in pages of `limit`. */
async function read(after: string | null = null, limit = 500): Promise<Event[]> {
  const events: Event[] = [];
  for (let last = after; ; last = events.at(-1)?.id ?? last) {
    const place = last === null ? "" : `&starting_after=${last}`;
    const { usage_events, has_more } = await json(await get(`?limit=${limit}${place}`));
    events.push(...usage_events);
    if (!has_more) return events;
  }
}

function count(organization_id: string, changes: Record<string, unknown> = {}) {
  const hour = new Date(HOUR).toISOString();
  return usageCount(organization_id, hour, { route: "/org/widgets", key_prefix: null, ...changes });
}

/** The time that {@link publish} uses as now. */
const LATER = HOUR + 1;
const publish = (countMax = 1_000) => writeUsageEvents(database, LATER, Date.now(), countMax);

/**
 * Publishes all counts of {@link HOUR}. A call publishes nothing while the service itself publishes, so it is repeated.
 */
async function publishAll(): Promise<void> {
  await waitFor(async () => {
    await publish();
    const left = await sqlOn(database)`
      select from audit.usage_pending where hour <= ${new Date(LATER).toISOString()}::text::timestamptz limit 1`;
    return left.length === 0;
  });
}

describe.skipIf(!services().postgres.real)("the usage feed", () => {
  const of = async (id: string) => (await read()).filter(({ subject }) => subject === id);

  // AU-128, AU-129
  test("publishes a count as a CloudEvent once its hour is over", async () => {
    const id = ulid();
    await report(`gateway-${ulid()}`, 1, [count(id), count(id, { service: "portal" })]);
    expect(await of(id)).toEqual([]);
    await publishAll();
    const time = new Date(HOUR).toISOString();
    const [event, ...others] = (await of(id)).toSorted((a, b) => (a.data.service > b.data.service ? -1 : 1));
    expect(others).toMatchObject([{ data: { service: "portal", platform: true } }]);
    expect<unknown>(event).toEqual({
      specversion: "1.0",
      id: expect.any(String),
      source: "ostiary/audit",
      type: "ostiary.usage.counted",
      subject: id,
      time,
      datacontenttype: "application/json",
      data: {
        from: time,
        to: new Date(HOUR + HOUR_MS).toISOString(),
        service: "widgets",
        method: "GET",
        route: "/org/widgets",
        member_id: "member-1",
        key_prefix: null,
        platform: false,
        requests: 10,
        refused: 6,
        refused_limit: 3,
        refused_labels: 2,
        refused_other: 1,
        failed: 1,
        bytes_in: 100,
        bytes_out: 2_000,
        duration_ms: 50,
      },
    });
    expect(isUlid(event?.id ?? "")).toBe(true);
  });

  // AU-128
  test("gets a count an hour later without a request", async () => {
    const id = ulid();
    await report(`gateway-${ulid()}`, 1, [count(id)]);
    const warnings: unknown[] = [];
    const writer = usageEventWriter({
      database,
      log: { warn: (...told: unknown[]) => void warnings.push(told) },
      clock: { ...systemClock, now: () => LATER + HOUR_MS + 60_000 },
    });
    writer.start();
    await waitFor(async () => (await of(id)).length === 1);
    await writer.stop();
    expect(warnings).toEqual([]);
  });

  // AU-128
  test("gives a reader every event once, while replicas publish and gateways report at once", async () => {
    const ids = Array.from({ length: 12 }, () => ulid());
    const run = ulid();
    const seen: Event[] = [];
    const start = (await read()).at(-1)?.id ?? null;
    let isOver = false;
    const readOn = async () => {
      seen.push(...(await read(seen.at(-1)?.id ?? start, 3)));
    };
    const reader = (async () => {
      while (!isOver) await readOn();
    })();
    const publishers = Array.from({ length: 3 }, async () => {
      while (!isOver) await publish(5);
    });
    const gateways = Array.from({ length: 4 }, async (_, gateway) => {
      for (let number = 1; number <= 10; number++) {
        const counts = ids.map((id) => count(id, { requests: 1 }));
        const sent = gateway % 2 === 0 ? counts : counts.toReversed();
        expect((await report(`${run}-${gateway}`, number, sent)).status).toBe(201);
      }
    });
    await Promise.all(gateways);
    isOver = true;
    await Promise.all([reader, ...publishers]);
    await publishAll();
    await readOn();
    const own = seen.filter(({ subject }) => ids.includes(subject));
    const sums = new Map<string, number>();
    for (const { subject, data } of own) sums.set(subject, (sums.get(subject) ?? 0) + data.requests);
    expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(ids.map((id) => [id, 40])));
    const order = seen.map(({ id }) => id);
    expect(order).toEqual([...new Set(order)].sort());
  });

  // AU-130
  test("is 401 without the token, and 422 for an unknown cursor or another invalid parameter", async () => {
    expect((await get("", {})).status).toBe(401);
    expect(await wrongFields(await get(`?starting_after=${ulid()}`))).toEqual(["starting_after"]);
    expect(await wrongFields(await get("?starting_after=x&limit=0&by=day"))).toEqual(
      expect.arrayContaining(["starting_after", "limit", "by"]),
    );
    expect((await get("?limit=100000")).status).toBe(200);
  });
});
