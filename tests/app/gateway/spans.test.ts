/** Tests the spans that a collector receives for each request (OP-53). */
import { beforeAll, expect, test } from "bun:test";
import { publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import {
  headerValue,
  OK,
  type RawRequest,
  RawUpstream,
  rawRequest,
  spell,
} from "../../support/http/raw-http.ts";
import { startCollector } from "../../support/telemetry/collector.ts";
import type { ReceivedSpan } from "../../support/telemetry/otlp-messages.ts";

const SERVER = 2;
const UNSET = { code: 0, message: "" };
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER_ID = "b7ad6b7169203331";
const CALLER = { traceparent: `00-${TRACE_ID}-${CALLER_ID}-01`, tracestate: "vendor=1" };

/** The span and the log line of one request. */
interface Emitted {
  span: ReceivedSpan | undefined;
  line: Record<string, unknown>;
}

const emitted = new Map<string, Emitted>();
let called: RawRequest;
let callSpan: ReceivedSpan | undefined;

beforeAll(async () => {
  await using collector = startCollector();
  const service = new RawUpstream();
  service.handler = ({ target }) =>
    target === "/things/broken" ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n" : OK;
  const gateway = await startLocalGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
  await gateway.publish({
    things: publicService(service.url, { path: "/things/{id}", methods: ["GET"] }),
    dead: publicService("http://127.0.0.1:9", { path: "/dead", methods: ["GET"] }),
  });
  const lines = new Map<string, Record<string, unknown>>();
  for (const [path, headers] of [
    ["/things/7?secret=x", CALLER],
    ["/nothing/here", {}],
    ["/dead", {}],
    ["/things/broken", {}],
  ] as const) {
    const response = await rawRequest(gateway.url, spell("GET", path, headers));
    lines.set(path, await gateway.logOf(headerValue(response.headers, "x-request-id") ?? ""));
  }
  const [first] = service.requests;
  if (first === undefined) throw new Error("The service was not called.");
  called = first;
  // Closing the gateway sends its queued spans.
  await gateway.close();
  service.close();
  for (const [path, line] of lines) {
    emitted.set(path, { line, span: collector.spans.find(({ span_id }) => span_id === line.span_id) });
    if (path.startsWith("/things/7")) {
      callSpan = collector.spans.find(({ parent_span_id }) => parent_span_id === line.span_id);
    }
  }
});

function emittedOf(path: string): { span: ReceivedSpan; line: Record<string, unknown> } {
  const { span, line } = emitted.get(path) ?? {};
  if (span === undefined || line === undefined) throw new Error(`The collector received no span of ${path}.`);
  return { span, line };
}

// OP-53
test("a span is named after the template, continues the caller's trace, and has the call to the service as a child", () => {
  const { span, line } = emittedOf("/things/7?secret=x");
  expect(span).toMatchObject({
    name: "GET /things/{id}",
    kind: SERVER,
    trace_id: TRACE_ID,
    parent_span_id: CALLER_ID,
    trace_state: "vendor=1",
    status: UNSET,
    resource: { "service.name": "gateway", "service.namespace": "edge" },
  });
  expect(span.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/things/{id}",
    "http.response.status_code": 200,
    "url.scheme": "http",
    "url.path": "/things/7",
    "server.address": expect.any(String),
    "server.port": expect.any(Number),
    "client.address": "127.0.0.1",
    request_id: String(line.request_id),
  });
  expect(span.durationNs).toBeGreaterThan(0);
  expect(line.span_id).toBe(span.span_id);
  expect(callSpan).toMatchObject({ name: "GET", parent_span_id: span.span_id, trace_id: TRACE_ID });
  expect(headerValue(called.headers, "traceparent")).toBe(`00-${TRACE_ID}-${callSpan?.span_id}-01`);
  expect(headerValue(called.headers, "tracestate")).toBe("vendor=1");
});

// OP-53
test("an unmatched request has a span that is named after its method, without an error", () => {
  const { span } = emittedOf("/nothing/here");
  expect(span).toMatchObject({ name: "GET", parent_span_id: "", status: UNSET });
  expect(span.attributes).toMatchObject({ "http.request.method": "GET", "http.response.status_code": 404 });
  expect(span.attributes).not.toHaveProperty("http.route");
});

// OP-53
test.each([
  ["the gateway's own", "/dead", 502, /could not be reached/],
  ["a service's", "/things/broken", 503, /responded with 503/],
])("the span of %s 5xx has an error status with the reason", (_, path, status, message) => {
  const { span, line } = emittedOf(path);
  expect(span.status).toEqual({ code: 2, message: expect.stringMatching(message) });
  expect(span.attributes["http.response.status_code"]).toBe(status);
  expect(line.error_message).toBe(span.status.message);
});
