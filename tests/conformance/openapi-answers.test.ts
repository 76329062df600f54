/** Tests that the responses of every operation match the service's OpenAPI description (ER-21). */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import { sampleOf } from "@ostiary/lib/openapi";
import { type AuditService, intent, json, startAudit, userIntent } from "../app/audit/audit-service.ts";
import { writeSigningKey } from "../app/audit/proof-bed.ts";
import { streamVariables } from "../app/audit/streams-bed.ts";
import { type IdentityHarness, NOBODY, startIdentity } from "../app/identity/harness.ts";
import { bodyFor, newTenant, operationsOf, pathIn } from "../app/identity/tenants.ts";
import { ADMIN_TOKEN, type Registry, service } from "../app/registry/harness.ts";
import { entry, type OperatedRegistry, startOperated, tokenOf } from "../app/registry/operators-bed.ts";
import { waitFor } from "../support/index.ts";
import { startLoadingGateway } from "../support/loading-gateway.ts";
import {
  AnswerCheck,
  type OpenApiDocument,
  type Operation,
  operationsIn,
  type PlacedOperation,
  resolved,
} from "../support/openapi.ts";

const BROKEN_QUERY = "?verbose=1";
/** The address of a receiver that the audit service under test allows for streams. */
const RECEIVER_URL = "https://127.0.0.1:1/hook";

/** Returns whether a response is the 409 of a read that app/registry/unreadable-configs.test.ts tests. */
const isOfNewerConfig = (status: string, { method }: PlacedOperation) => status === "409" && method === "GET";

/** Returns whether a response is the 409 without AUDIT_STREAM_KEY_FILE that app/audit/streams.test.ts tests. */
const isOfKeylessAudit = (status: string, { path }: PlacedOperation) =>
  status === "409" && path.includes("{stream_id}");

/** Returns whether a response is a tile that only a tree with very many checkpoints has. */
const isOfLargeTree = (status: string, { path }: PlacedOperation) =>
  status === "200" && path.startsWith("/audit-log/tile/") && !path.endsWith("/{second}");

/** Returns each described response that a condition selects, in the form of `AnswerCheck.unseen`. */
function responsesOf(
  document: OpenApiDocument,
  ...conditions: ((status: string, operation: PlacedOperation) => boolean)[]
): string[] {
  return operationsIn(document).flatMap((operation) =>
    Object.keys(operation.responses)
      .filter((status) => conditions.some((holds) => holds(status, operation)))
      .map((status) => `${operation.operationId} ${status}`),
  );
}

function exampleOf(document: OpenApiDocument, body: Operation["requestBody"]): unknown {
  if (body === undefined) return undefined;
  return sampleOf(body.content["application/json"]?.schema, ($ref) => resolved(document, { $ref }));
}

// ER-21
describe("identity", () => {
  let identity: IdentityHarness;
  let check: AnswerCheck;
  beforeAll(async () => {
    identity = await startIdentity();
    check = new AnswerCheck((await identity.call("GET", "/swagger/json")).body);
  });
  afterAll(() => identity.close());

  async function call(method: string, path: string, body?: unknown) {
    const answer = await identity.call(method, path, body);
    const problems = check.problems(method, path, answer);
    expect({ method, path, problems }).toEqual({ method, path, problems: [] });
    return answer;
  }

  /**
   * Calls each operation twice for a new tenant, with the sample of its body. The first call must succeed.
   */
  async function successes(): Promise<void> {
    const theirs = await newTenant(identity, "Theirs");
    for (const operation of await operationsOf(identity)) {
      const { id, method } = operation;
      const path = pathIn(await newTenant(identity, "Ours"), operation);
      const body = bodyFor(theirs, operation);
      const { status } = await call(method, path, body);
      expect([id, status < 300]).toEqual([id, true]);
      await call(method, path, body);
    }
  }

  async function keysAndMembers(): Promise<void> {
    const { user_id, organization_id, member_id, token } = await newTenant(identity, "Ours");
    const keys = `/users/${user_id}/api-keys`;
    // This operation's body is optional, so send none.
    const { body } = await call("POST", keys);
    await call("POST", keys, { name: "Deploy 🚪" });
    await call("POST", keys, { expires_in_seconds: 1 });
    await call("POST", `${keys}/${body.id}/rotate`);
    await call("POST", `${keys}/${body.id}/rotate`, { overlap_seconds: -1 });
    await call("GET", `${keys}?unused_for_seconds=60&expires_within_seconds=86400`);
    await call("GET", `${keys}?unused_for_seconds=never`);
    await call("GET", `${keys}?limit=1&starting_after=${body.id}`);
    // The person is already a member, so redeeming the invite returns the existing membership with 200.
    expect((await call("POST", `/users/${user_id}/invites/redeem`, { token })).status).toBe(200);
    const member = `/organizations/${organization_id}/members/${member_id}`;
    await call("PATCH", member, { role: "admin", display_name: null });
    await call("DELETE", member);
    // A removed member can still be read.
    expect((await call("GET", member)).body.status).toBe("removed");
  }

  async function conflicts(): Promise<void> {
    const { id, owner, ownerMember } = await identity.organization();
    expect((await call("DELETE", `/users/${owner}`)).status).toBe(409);
    expect((await call("DELETE", `/members/${ownerMember}`)).status).toBe(422);
    const { body: once } = await call("POST", `/organizations/${id}/invites`);
    await call("DELETE", `/organizations/${id}/invites/${once.id}`);
    const guest = await identity.person("guest");
    expect((await call("POST", `/users/${guest}/invites/redeem`, { token: once.token })).status).toBe(409);
    const organizations = `/users/${owner}/organizations`;
    for (let n = 1; n < 50; n++) await identity.call("POST", organizations, { name: `n${n}` });
    expect((await call("POST", organizations, { name: "One more" })).status).toBe(409);
  }

  async function refusals(document: OpenApiDocument): Promise<void> {
    for (const { method, path: template, requestBody } of operationsIn(document)) {
      const path = template.replace(/\{\w+\}/g, NOBODY);
      expect((await call(method, `${path}${BROKEN_QUERY}`)).status).toBe(422);
      if (method === "GET" || method === "DELETE") await call(method, path);
      else {
        expect((await call(method, path, "{")).status).toBe(400);
        expect((await call(method, path, JSON.stringify("x".repeat(70_000)))).status).toBe(413);
        await call(method, path, { unknown: true });
        await call(method, path, exampleOf(document, requestBody));
      }
    }
  }

  test("every response matches the description, and every described success, 404 and conflict occurs", async () => {
    await successes();
    await keysAndMembers();
    await conflicts();
    await refusals((await identity.call("GET", "/swagger/json")).body);
    expect(check.unseen()).toEqual([]);
  });

  // ID-1, ID-3
  test("a create gets 201, a delete 204 and every other success 200, and no path has a version prefix", async () => {
    const { body: document } = await identity.call("GET", "/swagger/json");
    for (const { operationId, method, path, responses } of operationsIn(document)) {
      const statuses = Object.keys(responses).filter((status) => Number(status) < 300);
      const own = method === "POST" ? ["201"] : method === "DELETE" ? ["204"] : ["200"];
      // A person who is already a member gets 200 for redeeming an invite.
      expect([operationId, statuses]).toEqual([
        operationId,
        operationId === "redeemInvite" ? ["200", "201"] : own,
      ]);
      expect(path).toMatch(/^\/(users|organizations|members)(\/|$)/);
    }
  });
});

// ER-21
describe("audit", () => {
  let audit: AuditService;
  let description: OpenApiDocument;
  let check: AnswerCheck;
  beforeAll(async () => {
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey(), SEAL_INTERVAL_MS: "100" };
    audit = await startAudit({ env: { ...env, ...streamVariables([1]) } });
    description = await json(await audit.get("/swagger/json"));
    check = new AnswerCheck(description);
  });
  afterAll(() => audit.stop());

  function get(path: string, accept?: string) {
    return seen("GET", path, audit.get(path, accept === undefined ? {} : { Accept: accept }));
  }

  async function seen(method: string, path: string, answered: Promise<Response>) {
    const response = await answered;
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text || null,
    };
    const problems = check.problems(method, path, answer);
    expect({ method, path, problems }).toEqual({ method, path, problems: [] });
    return answer;
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

  /**
   * Reports usage as a gateway whose last report is two minutes old, so that the gateway counts as silent.
   */
  async function report() {
    const nowMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const count = {
      organization_id: NOBODY,
      hour: new Date(nowMs).toISOString(),
      service: "widgets",
      route: "/org/widgets",
      method: "GET",
      member_id: "member-1",
      ...{ requests: 3, refused: { limit: 1, labels: 0, other: 0 }, failed: 1 },
      ...{ bytes_in: 1, bytes_out: 2, duration_ms: 3 },
    };
    const counts = ["ostiary-k-2-abcd", null].map((key_prefix) => ({ ...count, key_prefix }));
    const { status } = await fetch(`${audit.internalUrl}/internal/usage/gateway-1/1`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        reported_until: new Date(nowMs - 120_000).toISOString(),
        is_last: false,
        uncounted: 0,
        counts,
      }),
    });
    expect(status).toBe(201);
  }

  async function treeOfCheckpoints() {
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
    await treeOfCheckpoints();
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

// ER-21
describe("the registry", () => {
  let operated: OperatedRegistry;
  let registry: Registry;
  let description: OpenApiDocument;
  let check: AnswerCheck;
  beforeAll(async () => {
    operated = await startOperated([entry("docs", "reader")], { env: { MAX_BODY_BYTES: "10000" } });
    registry = operated.registry;
    description = (await registry.call("GET", "/swagger/json")).body;
    check = new AnswerCheck(description);
  });
  afterAll(() => operated.stop());

  async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    const answer = await registry.call(method, path, body, headers);
    const problems = check.problems(method, path, {
      ...answer,
      body: answer.body === "" ? null : answer.body,
    });
    expect({ method, path, problems }).toEqual({ method, path, problems: [] });
    return answer;
  }

  test("every response matches the description, and every described response occurs", async () => {
    const limited = {
      url: "http://widgets:8080",
      rate_limits: { burst: { requests: 10, window_seconds: 60, shared: true } },
      organization: {
        route_prefix: "/org",
        routes: [
          {
            path: "/widgets/{id}",
            methods: { GET: null, DELETE: { required_labels: ["a"], rate_limit: "burst" } },
          },
          { path: "/things", methods: ["GET", "POST"], rate_limit: false, audit: true },
          { path: "/others", methods: ["GET"], rate_limit: { requests: 1, window_seconds: 1 } },
        ],
      },
    };
    await call("POST", "/apply?dry_run=true", { services: { widgets: limited } });
    await call("POST", "/apply", { services: { widgets: limited } });
    await call("POST", "/apply?dry_run=true", { services: { widgets: service("/a"), other: service("/b") } });
    expect((await call("POST", "/apply", { services: { other: limited } })).status).toBe(409);
    expect((await call("POST", "/apply", "x".repeat(20_000))).status).toBe(413);
    expect((await call("POST", "/apply", { services: {} })).status).toBe(422);
    await call("PUT", "/services/widgets", service("/a"), { "If-Match": '"1"' });
    expect((await call("PUT", "/services/widgets", service("/a"), { "If-Match": '"1"' })).status).toBe(412);
    await reads();
    expect((await call("DELETE", "/services/widgets?wait_ms=0")).status).toBe(200);
    await call("PUT", "/services/widgets?wait_ms=1000", service("/a"));
    await call("DELETE", "/services/widgets");
    const gateway = await startLoadingGateway(registry.routeStore);
    expect((await call("GET", "/gateways")).body.gateways).toHaveLength(1);
    await gateway.stop();
    await call("POST", "/services/widgets/revisions/1/restore");
    await call("GET", "/routes?method=DELETE&path=/org/widgets/42");
    await call("GET", "/routes?method=GET&path=/org/things");
    await call("GET", "/routes?method=DELETE&path=/org/widgets/42&labels=a,*");
    expect((await call("GET", "/routes?method=GET&path=/org/thing")).status).toBe(404);
    await call("GET", "/changes?limit=1");
    const stale = { "If-Match": '"99"' };
    await call("PUT", "/services/other", service("/a"));
    const conflict = await call("PUT", "/services/widgets", service("/a"));
    expect([conflict.status, conflict.body.error.code]).toEqual([409, "ROUTE_CONFLICT"]);
    expect((await call("POST", "/apply", { services: { other: service("/c") } }, stale)).status).toBe(412);
    expect((await call("DELETE", "/services/widgets", undefined, stale)).status).toBe(412);
    const restore = "/services/widgets/revisions/2/restore";
    expect((await call("POST", restore, undefined, stale)).status).toBe(412);
    expect((await call("POST", restore)).status).toBe(409);
    await refusals();
    expect(check.unseen()).toEqual(responsesOf(description, isOfNewerConfig));
  });

  /** Returns the path of each GET operation, with its parameters replaced by `values`. */
  function readable(values: Record<string, string>): string[] {
    return operationsIn(description)
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ""));
  }

  async function reads(): Promise<void> {
    for (const path of readable({ name: "widgets", rev: "1", other: "2" })) await call("GET", path);
  }

  async function refusals(): Promise<void> {
    for (const path of readable({ name: "none", rev: "1", other: "2" })) {
      expect((await call("GET", `${path}${BROKEN_QUERY}`)).status).toBe(422);
      if (path.includes("none")) expect((await call("GET", path)).status).toBe(404);
      await call("GET", path, undefined, { Authorization: `Bearer ${ADMIN_TOKEN}x` });
    }
    expect((await call("GET", "/services/none/revisions/x")).status).toBe(404);
    expect((await call("DELETE", "/services/none")).status).toBe(404);
    expect((await call("POST", "/services/none/revisions/1/restore")).status).toBe(404);
    expect((await call("PUT", "/services/none", "{")).status).toBe(422);
    const reader = { Authorization: `Bearer ${tokenOf("docs")}` };
    for (const [method, path] of [
      ["POST", "/apply"],
      ["PUT", "/services/none"],
      ["DELETE", "/services/none"],
      ["POST", "/services/none/revisions/1/restore"],
    ] as const) {
      expect((await call(method, path, undefined, reader)).status).toBe(403);
    }
  }
});
