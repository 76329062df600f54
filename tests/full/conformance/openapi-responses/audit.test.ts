import { beforeAll, describe, expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import { intent, json, startAudit, userIntent } from "../../../app/audit/bed.ts";
import { writeSigningKey } from "../../../app/audit/proof-bed.ts";
import { streamVariables } from "../../../app/audit/streams-bed.ts";
import { HOUR_MS, reportUsage, usageCount } from "../../../app/audit/usage-bed.ts";
import { NOBODY } from "../../../app/identity/bed.ts";
import { duringTests } from "../../../support/during-tests.ts";
import { type OpenApiDocument, operationsIn, type PlacedOperation } from "../../../support/http/openapi.ts";
import { waitFor } from "../../../support/index.ts";
import { BROKEN_QUERY, exampleOf, ResponseCheck, responsesOf } from "./response-check.ts";

/** The address of a receiver that the audit service under test allows for streams. */
const RECEIVER_URL = "https://127.0.0.1:1/hook";

/** Returns whether a response is one of an audit service without AUDIT_STREAM_KEY_FILE or AUDIT_SIGNING_KEY_FILE. */
const isOfKeylessAudit = (status: string, { path }: PlacedOperation) =>
  (status === "409" && path.includes("{stream_id}")) || (status === "404" && path === "/audit-log/key");

/** Returns whether a response is a tile that only a tree with very many leaves has. */
const isOfLargeTree = (status: string, { path }: PlacedOperation) =>
  status === "200" && path.startsWith("/audit-log/tile/") && !path.endsWith("/{second}");

// ER-21
describe("audit", () => {
  const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "100" };
  const audit = duringTests(() => startAudit({ env: { ...env, ...streamVariables([1]) } }));
  let description: OpenApiDocument;
  let check: ResponseCheck;
  beforeAll(async () => {
    description = await json(await audit.get("/swagger/json"));
    check = new ResponseCheck(description);
  });

  function get(path: string, accept?: string) {
    return seen("GET", path, audit.get(path, accept === undefined ? {} : { Accept: accept }));
  }

  async function seen(method: string, path: string, pending: Promise<Response>) {
    const response = await pending;
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const body = isJson ? JSON.parse(text) : text || null;
    return check.expectDescribed(method, path, { status: response.status, headers: response.headers, body });
  }

  const call = (method: string, path: string, body?: unknown) =>
    seen(
      method,
      path,
      fetch(`${audit.url}${path}`, {
        method,
        headers: { "Content-Type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );

  /** Reports usage as a gateway whose last report is old enough to count as silent. */
  async function report() {
    const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const counts = ["ostiary-k-2-abcd", null].map((key_prefix) =>
      usageCount(NOBODY, new Date(hourMs).toISOString(), { key_prefix }),
    );
    await reportUsage(audit.internalUrl, counts, new Date(hourMs - 120_000).toISOString());
  }

  async function treeOfLeaves() {
    const tile = "/audit-log/tile/0";
    for (const path of ["/audit-log/checkpoint", `${tile}/000.p/1`]) {
      await waitFor(async () => (await audit.get(path)).status === 200);
      await get(path);
    }
    for (const place of ["/999", "/999.p/9", "/x001/999.p/9", "/x001/x001/999.p/9"]) {
      expect((await get(`${tile}${place}`)).status).toBe(404);
      expect((await get(`${tile}x${place}`)).status).toBe(422);
    }
  }

  async function streams() {
    const path = `/organizations/${NOBODY}/audit-streams`;
    const created = { url: RECEIVER_URL, filter: { service: "widgets" } };
    for (let n = 0; n < 10; n++) expect((await call("POST", path, created)).status).toBe(201);
    expect((await call("POST", path, created)).status).toBe(409);
  }

  /** Calls each operation with the sample of its body. Operations on a stream get a new stream each. */
  async function successes() {
    for (const { operationId, method, path: template, requestBody } of operationsIn(description)) {
      const owner = template.includes("audit-streams") ? `of ${operationId}` : NOBODY;
      const sample = exampleOf(description, requestBody);
      const body = isRecord(sample) && "url" in sample ? { ...sample, url: RECEIVER_URL } : sample;
      const streams = `/organizations/${encodeURIComponent(owner)}/audit-streams`;
      const isOfStream = template.includes("{stream_id}");
      const stream = isOfStream ? (await call("POST", streams, { url: RECEIVER_URL })).body.id : "";
      const values: Record<string, string> = { stream_id: stream, level: "0", first: "000" };
      const path = template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? encodeURIComponent(owner));
      await call(method, path, body);
    }
  }

  async function refusals() {
    for (const { method, path: template, requestBody } of operationsIn(description)) {
      const path = template.replace(/\{\w+\}/g, NOBODY);
      const sample = exampleOf(description, requestBody);
      expect((await call(method, `${path}${BROKEN_QUERY}`, sample)).status).toBe(422);
      if (template.includes("{stream_id}")) expect((await call(method, path, sample)).status).toBe(404);
      if (requestBody === undefined) continue;
      expect((await call(method, path, "{")).status).toBe(400);
      expect((await call(method, path, "x".repeat(70_000))).status).toBe(413);
      expect((await call(method, path, { unknown: true })).status).toBe(422);
    }
  }

  test("every response matches the description, for the logs of organizations and of persons", async () => {
    expect((await get("/audit-log/checkpoint")).status).toBe(404);
    await audit.put("first", intent({ organization_id: NOBODY }));
    await audit.patch("first", {
      outcome: "responded",
      status: 201,
      details: { a: [1] },
      created_id: "anything",
    });
    await audit.put("second", intent({ organization_id: NOBODY, user_agent: null }));
    await audit.put("third", userIntent({ user_id: NOBODY }));
    for (const owner of ["organizations", "users"]) {
      const log = `/${owner}/${NOBODY}/audit-events`;
      const { body } = await get(log);
      expect(body.audit_events.length).toBeGreaterThan(0);
      await get(`${log}?limit=1&params[widget_id]=widget-1&occurred_after=2020-01-01T00:00:00Z`);
      await get(`${log}/export?format=csv`);
      await get(`${log}/export?format=ndjson&service=widgets`);
    }
    await treeOfLeaves();
    await report();
    for (const by of ["day", "hour", "service", "route", "key"]) {
      await get(`/organizations/${NOBODY}/usage?by=${by}`);
    }
    await streams();
    await successes();
    await refusals();
    expect(check.unseen()).toEqual(responsesOf(description, isOfLargeTree, isOfKeylessAudit));
  });
});
