/**
 * Tests of the logs, metrics and traces (OP-36 to OP-54) that the services and the portal emit in one run.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  accessLines,
  type MixedRun,
  SERVICES,
  type ServiceName,
  startMixedRun,
} from "../../support/load/mixed-run.ts";
import { ROOT } from "../../support/root.ts";
import { pathsOf, type ReceivedSpan } from "../../support/telemetry/otlp-messages.ts";

setDefaultTimeout(180_000);

const SERVER_KIND = 2;
const UNSET = { code: 0, message: "" };
const ERROR_KINDS = ["auth", "network", "db", "io", "internal", "validation"];
/** Fields of a request's log line that only one service adds. */
const OWN_FIELDS: Partial<Record<ServiceName, string[]>> = {
  gateway: ["auth_type", "key_prefix"],
  registry: ["operator", "change_reason", "change_link"],
};

let run: MixedRun;
const scrapes = new Map<ServiceName, string>();

beforeAll(async () => {
  run = await startMixedRun();
  for (const service of SERVICES) scrapes.set(service, await run.scrape(service));
  await run.stop();
});
afterAll(() => run?.stop());

const scrapeOf = (service: ServiceName) => scrapes.get(service) ?? "";
const linesOf = (service: ServiceName) => accessLines(run.stack[service]);

/** Returns the gateway's log line of a request. */
function lineOf(name: string): Record<string, unknown> {
  const { request_id } = run.responses.get(name) ?? {};
  const found = linesOf("gateway").filter((line) => line.request_id === request_id);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} log lines for ${name}`);
  return found[0];
}

function serverSpans(service?: ServiceName): ReceivedSpan[] {
  return run.collector.spans.filter(
    ({ kind, resource }) =>
      kind === SERVER_KIND && resource["service.name"] === (service ?? resource["service.name"]),
  );
}

test("every request of the run has its expected status", () => {
  for (const [name, { status, expected }] of run.responses) expect([name, status]).toEqual([name, expected]);
});

describe("logs", () => {
  // OP-37
  test.each(SERVICES)("a request's log line of %s has exactly the specified fields and types", (service) => {
    const lines = linesOf(service);
    expect(lines.length).toBeGreaterThan(0);
    const required = ["timestamp", "level", "message", "service", "route", "method", "status", "duration_ms"];
    const known = [
      ...required,
      "request_id",
      "trace_id",
      "span_id",
      "user_id",
      "organization_id",
      "member_id",
    ];
    const own = OWN_FIELDS[service] ?? [];
    for (const line of lines) {
      const failed = Number(line.status) >= 500;
      const ofFailure = failed ? ["error_kind", "error_message"] : [];
      expect(Object.keys(line)).toEqual(expect.arrayContaining([...required, "request_id", ...ofFailure]));
      for (const name of Object.keys(line)) expect([...known, ...own, ...ofFailure]).toContain(name);
      expect(line).toMatchObject({
        level: failed ? "error" : "info",
        message: failed ? "request failed" : "request completed",
        route: expect.any(String),
        method: expect.stringMatching(/^[A-Z]+$/),
        status: expect.any(Number),
        duration_ms: expect.any(Number),
        request_id: expect.any(String),
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
      if (failed) {
        expect(ERROR_KINDS).toContain(String(line.error_kind));
        expect(typeof line.error_message).toBe("string");
      }
    }
  });

  test("the services behind the gateway log the same request id", () => {
    const found = (service: ServiceName, name: string) =>
      linesOf(service).filter(({ request_id }) => request_id === run.responses.get(name)?.request_id);
    expect(found("identity", "member key")).toMatchObject([
      { route: "/internal/credentials/validate", status: 200 },
      { route: "/members/{member_id}/api-keys", status: 201 },
    ]);
    expect(found("audit", "log")).toMatchObject([{ status: 200, organization_id: run.organization_id }]);
  });
});

describe("metrics", () => {
  // OP-40, OP-51
  test("requests are counted by path template, so that no label contains an id", () => {
    const scrape = scrapeOf("gateway");
    for (const line of [
      'http_requests_total{route="/demo/things/{thing_id}",method="PUT",status="403"} 1',
      'http_requests_total{route="unmatched",method="GET",status="404"}',
      'http_requests_total{route="preflight",method="OPTIONS",status="204"} 1',
      'http_requests_total{route="/demo/burst",method="GET",status="429"} 2',
      'http_requests_total{route="/hangs",method="GET",status="499"} 1',
    ]) {
      expect(scrape).toContain(line);
    }
    for (const service of SERVICES) {
      expect(scrapeOf(service)).not.toContain("/nowhere");
      expect(scrapeOf(service)).not.toContain(run.organization_id);
    }
  });

  // OP-51
  test.each(SERVICES)("every metric of %s is listed in its README or among those of all", async (service) => {
    const pages = [`apps/${service}/README.md`, ".github/operations/README.md"];
    const text = (await Promise.all(pages.map((page) => Bun.file(`${ROOT}/${page}`).text()))).join("\n");
    const names = Array.from(scrapeOf(service).matchAll(/^# TYPE (\w+) /gm), ([, name = ""]) => name);
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe("traces", () => {
  test.each(SERVICES)("each log line of %s has a server span, and each server span a log line", (service) => {
    const spans = serverSpans(service);
    const logged = linesOf(service).map(({ span_id, trace_id }) => `${trace_id}/${span_id}`);
    expect(spans.map(({ span_id, trace_id }) => `${trace_id}/${span_id}`).toSorted()).toEqual(
      logged.toSorted(),
    );
  });

  // OP-53
  test.each(SERVICES)(
    "a server span of %s is named by method and path template, and only 5xx is an error",
    (service) => {
      const lines = new Map(linesOf(service).map((line) => [line.span_id, line]));
      for (const { span_id, name, attributes, status, resource } of serverSpans(service)) {
        const line = lines.get(span_id) ?? {};
        const route = attributes["http.route"];
        expect(name).toBe(route === undefined ? `${line.method}` : `${line.method} ${route}`);
        expect(attributes["http.request.method"]).toBe(String(line.method));
        if (line.status !== 499) expect(attributes["http.response.status_code"]).toBe(Number(line.status));
        if (Number(line.status) >= 500)
          expect(status).toEqual({ code: 2, message: String(line.error_message) });
        else expect(status).toEqual(UNSET);
        const namespace = service === "identity" || service === "audit" ? service : "edge";
        expect(resource).toMatchObject({ "service.name": service, "service.namespace": namespace });
      }
    },
  );
});

// OP-54
describe("a trace", () => {
  const treeOf = (name: string) => pathsOf(run.collector.spans, String(lineOf(name).trace_id));

  test("contains the spans of the gateway, its calls, the services behind it and their database", () => {
    const root = "gateway serves POST /member/api-keys";
    const audit = "audit serves PUT /internal/events/{request_id}";
    const tree = treeOf("member key");
    expect(tree).toContain(root);
    expect(tree).toContain(`${root} > gateway calls increment rate_limits`);
    expect(tree).toContain(`${root} > gateway calls PUT > ${audit} > audit calls insert_intents audit`);
    const served = "identity serves POST /members/{member_id}/api-keys";
    expect(tree).toContain(`${root} > gateway calls POST > ${served}`);
    expect(
      tree.some((path) => path.startsWith(`${root} > gateway calls POST > ${served} > identity calls `)),
    ).toBe(true);
    expect(tree.some((path) => path.includes("gateway calls PATCH > audit serves PATCH"))).toBe(true);
  });

  // OP-54
  test("has the request_id of the log lines on each span", () => {
    const { request_id } = run.responses.get("member key") ?? {};
    const { trace_id } = lineOf("member key");
    for (const span of run.collector.spans.filter((each) => each.trace_id === trace_id)) {
      expect(span.attributes.request_id).toBe(request_id ?? "");
    }
    for (const service of ["gateway", "identity", "audit"] as const) {
      expect(linesOf(service).some((line) => line.request_id === request_id)).toBe(true);
    }
  });

  test("starts with a server span: scrapes and background work have no spans", () => {
    const known = new Set(run.collector.spans.map(({ span_id }) => span_id));
    const orphans = run.collector.spans.filter(({ parent_span_id, kind }) =>
      parent_span_id === "" ? kind !== SERVER_KIND : !known.has(parent_span_id),
    );
    expect(orphans.map(({ name, resource }) => `${resource["service.name"]} ${name}`)).toEqual([]);
  });
});

// OP-42
test("no log line, metric or span contains a key, token, JWT or query string", () => {
  const written = [
    run.stack.output().join("\n"),
    ...scrapes.values(),
    JSON.stringify(run.collector.spans),
  ].join("\n");
  for (const secret of [...run.secrets, "s3cr3t-query", run.stack.adminToken]) {
    expect(written).not.toContain(secret);
  }
});
