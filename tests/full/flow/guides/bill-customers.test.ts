/**
 * Tests of the programs in bill-customers.md, with stand-ins that check requests as OpenMeter and Stripe do.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fits } from "@ostiary/lib/domain/errors";
import { Type } from "@sinclair/typebox";
import { ulid } from "ulid";
import { type AuditService, startAudit } from "../../../app/audit/bed.ts";
import { HOUR_MS, reportUsage, usageCount } from "../../../app/audit/usage-bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { type Command, moved, Reader, withNodeOrBun } from "../../../support/documents/guide-reader.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const GUIDE = ".github/guides/bill-customers.md";
const TOKEN = "feed-internal-token";

/** The schema of an event in OpenMeter's API: a CloudEvent in JSON. */
const CloudEvent = Type.Object({
  id: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  specversion: Type.Literal("1.0"),
  type: Type.String({ minLength: 1 }),
  subject: Type.String({ minLength: 1 }),
  time: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" }),
  datacontenttype: Type.Literal("application/json"),
  data: Type.Record(Type.String(), Type.Unknown()),
});
const CloudEvents = Type.Array(CloudEvent, { minItems: 1 });

/** The schema of a meter event in Stripe's API. */
const MeterEvent = Type.Object(
  {
    event_name: Type.String({ minLength: 1, maxLength: 100 }),
    identifier: Type.String({ minLength: 1, maxLength: 100 }),
    timestamp: Type.String({ pattern: "^[1-9][0-9]{9}$" }),
    "payload[stripe_customer_id]": Type.String({ pattern: "^cus_\\w+$" }),
    "payload[value]": Type.String({ pattern: "^[1-9][0-9]*$" }),
  },
  { additionalProperties: false },
);

let audit: AuditService;
let reader: Reader;
let vendor: Bun.Server<undefined>;
/** The usage that the vendor accepted, by the id of the usage event. `value` is the number of requests. */
let taken = new Map<string, { customer: string; value: number }>();
/** The number of next calls that the vendor accepts but responds to with an error. */
let lost = 0;
let wrong: string[] = [];
const running: Command[] = [];
const hour = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS).toISOString();

beforeAll(async () => {
  audit = await startAudit({ env: { INTERNAL_AUTH_TOKEN: TOKEN } });
  vendor = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  const url = `http://127.0.0.1:${vendor.port}`;
  reader = await Reader.open({
    AUDIT_URL: audit.internalUrl,
    INTERNAL_AUTH_TOKEN: TOKEN,
    OPENMETER_URL: url,
    OPENMETER_API_KEY: "om_key",
    STRIPE_URL: url,
    STRIPE_API_KEY: "sk_test_key",
  });
  const [program = ""] = await commandsOf(GUIDE, "A reader that can be stopped at any moment");
  await reader.run(program);
});
afterEach(async () => {
  for (const command of running.splice(0)) {
    command.kill("SIGKILL");
    await command.exited;
  }
  for (const name of ["usage-cursor", "meter.mjs", "customers.json", "unbilled.ndjson"]) {
    await rm(join(reader.directory, name), { force: true });
  }
  [taken, wrong, lost] = [new Map(), [], 0];
});
afterAll(async () => {
  await Promise.all([audit.stop(), vendor.stop(true)]);
});

async function respond(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/api/v1/events") await takeOpenMeter(request);
  else if (pathname === "/v1/billing/meter_events") {
    const known = await takeStripe(request);
    if (known) {
      const message = "An event already exists with identifier x.";
      return Response.json({ error: { type: "invalid_request_error", message } }, { status: 400 });
    }
  } else wrong.push(pathname);
  if (lost > 0) {
    lost -= 1;
    return new Response("lost", { status: 502 });
  }
  return pathname === "/api/v1/events" ? new Response(null, { status: 204 }) : Response.json({});
}

async function takeOpenMeter(request: Request): Promise<void> {
  const body: unknown = await request.json();
  const type = request.headers.get("Content-Type");
  if (type !== "application/cloudevents-batch+json") wrong.push(`type ${type}`);
  if (request.headers.get("Authorization") !== "Bearer om_key") wrong.push("no key");
  if (!fits(CloudEvents, body)) wrong.push(JSON.stringify(body));
  else {
    for (const { id, source, subject, data } of body) {
      taken.set(`${source} ${id}`, { customer: subject, value: Number(data.requests) });
    }
  }
}

/** Accepts a meter event. Returns true if an event with the same identifier was accepted before. */
async function takeStripe(request: Request): Promise<boolean> {
  const fields = Object.fromEntries(new URLSearchParams(await request.text()));
  if (request.headers.get("Authorization") !== "Bearer sk_test_key") wrong.push("no key");
  if (!fits(MeterEvent, fields)) {
    wrong.push(JSON.stringify(fields));
    return false;
  }
  const ageMs = Date.now() - Number(fields.timestamp) * 1_000;
  if (ageMs < -5 * 60_000 || ageMs > 35 * 24 * HOUR_MS) wrong.push(`timestamp ${fields.timestamp}`);
  const { identifier } = fields;
  if (taken.has(identifier)) return true;
  taken.set(identifier, {
    customer: fields["payload[stripe_customer_id]"],
    value: Number(fields["payload[value]"]),
  });
  return false;
}

function start(): void {
  running.push(reader.start(`exec ${withNodeOrBun("node bill.mjs")}`));
}

/** Returns the number of requests that the vendor bills to a customer. */
function billed(customer: string): number {
  return [...taken.values()].reduce((sum, each) => sum + (each.customer === customer ? each.value : 0), 0);
}

/** Reports `count` usage counts of 10 requests each. In each count, 6 requests were refused. */
function use(organization_id: string, count: number, at = hour, service = "widgets"): Promise<void> {
  const counts = Array.from({ length: count }, (_, n) =>
    usageCount(organization_id, at, { member_id: `member-${n}`, service }),
  );
  return reportUsage(audit.internalUrl, counts, new Date().toISOString(), {
    "X-Platform-Internal-Token": TOKEN,
  });
}

describe("the programs of bill-customers.md", () => {
  // AU-128, AU-129
  test("bill each request once at OpenMeter, despite lost responses and a killed process", async () => {
    const [openMeter = ""] = await commandsOf(GUIDE, "OpenMeter");
    await reader.run(openMeter);
    const id = ulid();
    await use(id, 3, hour, "identity");
    await use(id, 250);
    lost = 2;
    start();
    await waitFor(() => billed(id) > 0, { timeoutMs: 60_000 });
    running[0]?.kill("SIGKILL");
    start();
    await waitFor(() => billed(id) === 2_500, { timeoutMs: 60_000 });
    await use(id, 1);
    await rm(join(reader.directory, "usage-cursor"), { force: true });
    start();
    await waitFor(() => billed(id) === 2_510, { timeoutMs: 60_000 });
    expect(wrong).toEqual([]);
    const [list = ""] = await commandsOf(GUIDE, "Bill your customers");
    await Bun.write(join(reader.directory, ".ostiary/internal-token"), TOKEN);
    const show = moved(list, { "http://127.0.0.1:3003": audit.internalUrl });
    const { usage_events, has_more } = JSON.parse(await reader.run(show));
    expect([usage_events.length, has_more]).toEqual([2, true]);
  });

  // AU-128, AU-129
  test("bill each request that reached a service once at Stripe, and keep what cannot be billed", async () => {
    const [stripe = ""] = await commandsOf(GUIDE, "Stripe");
    await reader.run(stripe);
    const [id, other] = [ulid(), ulid()];
    await Bun.write(join(reader.directory, "customers.json"), JSON.stringify({ [id]: "cus_1" }));
    await use(id, 3, hour, "portal");
    await use(id, 30);
    await use(other, 2);
    await use(id, 1, new Date(Date.parse(hour) - 40 * 24 * HOUR_MS).toISOString());
    lost = 2;
    start();
    await waitFor(() => billed("cus_1") === 120, { timeoutMs: 60_000 });
    const unbilled = async () => {
      const text = await Bun.file(join(reader.directory, "unbilled.ndjson"))
        .text()
        .catch(() => "");
      const subjects = text
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      return new Set(subjects.filter(({ subject }) => [id, other].includes(subject)).map((each) => each.id))
        .size;
    };
    await waitFor(async () => (await unbilled()) === 3, { timeoutMs: 60_000 });
    expect(billed("cus_1")).toBe(120);
    expect(wrong).toEqual([]);
  });
});
