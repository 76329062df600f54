/**
 * Tests W3C Trace Context level 1, with the key syntax and the random flag of level 2. The cases are those of
 * the W3C test suite. Header lines are sent unchanged over a socket, so the runtime's parser sees repeated
 * headers and white space.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTelemetry, type Telemetry } from "@ostiary/lib/runtime/telemetry";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { rawRequest } from "../../support/http/raw-http.ts";
import { telemetryConfig } from "../../support/telemetry/collector.ts";

const TRACE_ID = "12345678901234567890123456789012";
const PARENT_ID = "1234567890123456";
const PARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
/** `PARENT` in a later version of the format, which may add fields. */
const LATER = `cc-${TRACE_ID}-${PARENT_ID}-01`;

const answerSchema = Type.Object({
  traceparent: Type.String({ pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$" }),
  tracestate: Type.Union([Type.String(), Type.Null()]),
});

type Answer = Static<typeof answerSchema>;
type HeaderLine = readonly [name: string, value: string];

let telemetry: Telemetry;
let server: Bun.Server<undefined>;

beforeAll(async () => {
  telemetry = await createTelemetry(
    { name: "gateway", namespace: "edge" },
    telemetryConfig({ LOG_LEVEL: "error" }),
  );
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ method, headers }) {
      const trace = telemetry.tracing.start(method, headers.get("traceparent"), headers.get("tracestate"));
      const answer: Answer = { traceparent: trace.traceparent, tracestate: trace.tracestate };
      trace.end({ route: null, status: 200 });
      return Response.json(answer);
    },
  });
});

afterAll(async () => {
  await server.stop(true);
  await telemetry.close();
});

/**
 * Sends a request with exactly these header lines, and returns the trace context that the gateway would
 * forward.
 */
async function sentOn(...lines: HeaderLine[]): Promise<Answer> {
  const head = ["GET / HTTP/1.1", "Host: gateway", "Connection: close"];
  for (const [name, value] of lines) head.push(`${name}:${value}`);
  const { body } = await rawRequest(server.url.origin, `${head.join("\r\n")}\r\n\r\n`);
  return Value.Parse(answerSchema, JSON.parse(body.toString()));
}

async function expectContinued(lines: HeaderLine[], flags = "01"): Promise<Answer> {
  const answer = await sentOn(...lines);
  const [, trace, span, sent] = answer.traceparent.split("-");
  expect({ trace, flags: sent }).toEqual({ trace: TRACE_ID, flags });
  expect(span).not.toBe(PARENT_ID);
  return answer;
}

async function expectNewTrace(lines: HeaderLine[]): Promise<void> {
  const answer = await sentOn(...lines);
  const trace = answer.traceparent.split("-")[1];
  expect(trace).not.toBe(TRACE_ID);
  expect(trace).not.toBe("0".repeat(32));
  expect(answer.tracestate).toBeNull();
}

const STATE: HeaderLine = ["tracestate", "foo=1"];

const members = (count: number) => Array.from({ length: count }, (_, at) => `bar${at}=${at}`);
const linesOf = (name: string, values: readonly string[]) => values.map((value): HeaderLine => [name, value]);

// GW-84
describe("a traceparent continues the trace with a new parent id when it", () => {
  test.each<[string, string, string]>([
    ["is well formed", PARENT, "01"],
    ["is not sampled", `00-${TRACE_ID}-${PARENT_ID}-00`, "00"],
    ["has all flags set, of which sampled and random are sent on", `00-${TRACE_ID}-${PARENT_ID}-ff`, "03"],
    ["has a random trace id", `00-${TRACE_ID}-${PARENT_ID}-02`, "02"],
    ["has a random trace id, and is sampled", `00-${TRACE_ID}-${PARENT_ID}-03`, "03"],
    ["has only unknown flags, which are not sent on", `00-${TRACE_ID}-${PARENT_ID}-fc`, "00"],
    ["has spaces around its value", `  ${PARENT}  `, "01"],
    ["has tabs around its value", `\t${PARENT}\t`, "01"],
    ["is of a later version", LATER, "01"],
    ["is of a later version and longer", `${LATER}-what-may-come`, "01"],
    ["is of the highest allowed version", `fe-${TRACE_ID}-${PARENT_ID}-01`, "01"],
  ])("%s", async (_, value, flags) => {
    const answer = await expectContinued([["traceparent", value], STATE], flags);
    expect(answer.tracestate).toBe("foo=1");
  });

  test.each(["Traceparent", "TRACEPARENT", "TraceParent"])("is written %s", async (name) => {
    expect((await expectContinued([[name, PARENT], STATE])).tracestate).toBe("foo=1");
  });
});

// GW-84
describe("a new trace begins, and tracestate is dropped, when traceparent", () => {
  test.each<[string, string[]]>([
    ["is missing", []],
    ["is empty", [""]],
    ["comes twice with two values", [PARENT, `00-${TRACE_ID}-1234567890123457-01`]],
    ["comes twice with one value", [PARENT, PARENT]],
    ["comes twice, of a later version", [LATER, LATER]],
    ["has the version ff", [`ff-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has the version ff and more", [`ff-${TRACE_ID}-${PARENT_ID}-01-more`]],
    ["is longer in version 00", [`${PARENT}-what-may-come`]],
    ["ends in a dash in version 00", [`${PARENT}-`]],
    ["goes on without a dash in version 00", [`${PARENT}.what`]],
    ["goes on without a dash in a later version", [`${LATER}.what`]],
    ["has a version with a dot first", [`.0-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has a version with a dot last", [`0.-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has an uppercase version", [`CC-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has a version of 3 digits", [`000-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has a version of 4 digits", [`0000-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has a version of 1 digit", [`0-${TRACE_ID}-${PARENT_ID}-01`]],
    ["has a trace id of zeros", [`00-${"0".repeat(32)}-${PARENT_ID}-01`]],
    ["has a trace id with a dot first", [`00-.${TRACE_ID.slice(1)}-${PARENT_ID}-01`]],
    ["has a trace id with a dot last", [`00-${TRACE_ID.slice(1)}.-${PARENT_ID}-01`]],
    ["has an uppercase trace id", [`00-${"ABCDEF12".repeat(4)}-${PARENT_ID}-01`]],
    ["has a trace id of 33 digits", [`00-${TRACE_ID}3-${PARENT_ID}-01`]],
    ["has a trace id of 31 digits", [`00-${TRACE_ID.slice(1)}-${PARENT_ID}-01`]],
    ["has a parent id of zeros", [`00-${TRACE_ID}-${"0".repeat(16)}-01`]],
    ["has a parent id with a dot first", [`00-${TRACE_ID}-.${PARENT_ID.slice(1)}-01`]],
    ["has a parent id with a dot last", [`00-${TRACE_ID}-${PARENT_ID.slice(1)}.-01`]],
    ["has an uppercase parent id", [`00-${TRACE_ID}-${"ABCDEF12".repeat(2)}-01`]],
    ["has a parent id of 17 digits", [`00-${TRACE_ID}-${PARENT_ID}7-01`]],
    ["has a parent id of 15 digits", [`00-${TRACE_ID}-${PARENT_ID.slice(1)}-01`]],
    ["has flags with a dot first", [`00-${TRACE_ID}-${PARENT_ID}-.0`]],
    ["has flags with a dot last", [`00-${TRACE_ID}-${PARENT_ID}-0.`]],
    ["has uppercase flags", [`00-${TRACE_ID}-${PARENT_ID}-0B`]],
    ["has flags of 3 digits", [`00-${TRACE_ID}-${PARENT_ID}-001`]],
    ["has flags of 1 digit", [`00-${TRACE_ID}-${PARENT_ID}-1`]],
    ["has no flags", [`00-${TRACE_ID}-${PARENT_ID}`]],
    ["has underscores for dashes", [PARENT.replaceAll("-", "_")]],
    ["has a space inside", [`00- ${TRACE_ID.slice(1)}-${PARENT_ID}-01`]],
  ])("%s", async (_, values) => {
    await expectNewTrace([...linesOf("traceparent", values), STATE]);
  });

  test.each(["trace-parent", "trace.parent"])("is named %s", async (name) => {
    await expectNewTrace([[name, PARENT], STATE]);
  });

  test("a new trace is not marked as sampled while no exporter runs", async () => {
    expect((await sentOn()).traceparent).toEndWith("-00");
  });
});

// GW-84
describe("tracestate is forwarded when it", () => {
  const visible = Array.from({ length: 0x7f - 0x21 }, (_, at) => String.fromCharCode(0x21 + at))
    .filter((character) => character !== "," && character !== "=")
    .join("");

  test.each<[string, string[], string]>([
    ["has one member", ["foo=1"], "foo=1"],
    ["has several members", ["foo=1,bar=2"], "foo=1,bar=2"],
    ["comes in several headers", ["foo=1,bar=2", "rojo=1", "congo=2"], "foo=1,bar=2,rojo=1,congo=2"],
    ["is followed by an empty header", ["foo=1", ""], "foo=1"],
    ["follows an empty header", ["", "foo=1"], "foo=1"],
    ["has an empty header between two others", ["foo=1", "", "bar=2"], "foo=1,bar=2"],
    ["has empty members", ["foo=1,,bar=2,"], "foo=1,bar=2"],
    ["has spaces and tabs around members", [" \t foo=1 \t , \t bar=2, \t baz=3 \t "], "foo=1,bar=2,baz=3"],
    ["names a key twice", ["foo=1,foo=2"], "foo=1,foo=2"],
    ["has 32 members", [members(32).join(",")], members(32).join(",")],
    ["has a key of 256 characters", [`foo=1,${"z".repeat(256)}=1`], `foo=1,${"z".repeat(256)}=1`],
    [
      "has a tenant of 241 and a vendor of 14 characters",
      [`${"t".repeat(241)}@${"v".repeat(14)}=1`],
      `${"t".repeat(241)}@${"v".repeat(14)}=1`,
    ],
    ["has a tenant that begins with a digit", ["0tenant@vendor=1"], "0tenant@vendor=1"],
    ["has a key that begins with a digit", ["1foo=1"], "1foo=1"],
    ["has a vendor that begins with a digit", ["foo@1bar=1"], "foo@1bar=1"],
    ["has at signs anywhere but first", ["foo@=1,foo@bar@@baz=2"], "foo@=1,foo@bar@@baz=2"],
    ["has a longer tenant", [`${"t".repeat(250)}@v=1`], `${"t".repeat(250)}@v=1`],
    ["has a value of 256 characters", [`foo=${"1".repeat(256)}`], `foo=${"1".repeat(256)}`],
    [
      "has every character a key may have",
      ["abcdefghijklmnopqrstuvwxyz0123456789_-*/=1"],
      "abcdefghijklmnopqrstuvwxyz0123456789_-*/=1",
    ],
    ["has every character a value may have", [`foo=${visible}`], `foo=${visible}`],
    ["has spaces inside a value", ["foo=a  b"], "foo=a  b"],
  ])("%s", async (_, values, expected) => {
    const answer = await expectContinued([["traceparent", PARENT], ...linesOf("tracestate", values)]);
    const sent = answer.tracestate?.split(",").map((member) => member.trim());
    expect(sent?.filter((member) => member !== "")).toEqual(expected.split(","));
  });

  test.each(["TraceState", "TRACESTATE"])("is written %s", async (name) => {
    const answer = await expectContinued([
      ["traceparent", PARENT],
      [name, "foo=1"],
    ]);
    expect(answer.tracestate).toBe("foo=1");
  });
});

// GW-84
describe("tracestate is dropped, and the trace continues, when it", () => {
  test.each<[string, string]>([
    ["is empty", ""],
    ["has only empty members", " , ,"],
    ["has a key without value", "foo"],
    ["has an empty value", "foo=,bar=3"],
    ["has an empty key", "=1"],
    ["has two equals signs in a member", "foo=bar=baz"],
    ["has a space before the equals sign", "foo =1"],
    ["has an uppercase key", "FOO=1"],
    ["has a dot in a key", "foo.bar=1"],
    ["has a key that begins with a dash", "-foo=1"],
    ["has a key that begins with an at sign", "@foo=1,bar=2"],
    ["has a key of 257 characters", `foo=1,${"z".repeat(257)}=1`],
    ["has a value of 257 characters", `foo=${"1".repeat(257)}`],
    ["has a tab inside a value", "foo=a\tb"],
    ["has a character beyond ASCII", "foo=\u00c3\u00a9"],
    ["has 33 members", members(33).join(",")],
    ["has one broken member at the end", "foo=1,bar=2,BAZ=3"],
  ])("%s", async (_, value) => {
    const answer = await expectContinued([
      ["traceparent", PARENT],
      ["tracestate", value],
    ]);
    expect(answer.tracestate).toBeNull();
  });

  test("has 33 members over several headers", async () => {
    const lines = linesOf("tracestate", members(33));
    expect((await expectContinued([["traceparent", PARENT], ...lines])).tracestate).toBeNull();
  });

  test("has another name", async () => {
    const lines: HeaderLine[] = [
      ["trace-state", "foo=1"],
      ["trace.state", "foo=1"],
    ];
    expect((await expectContinued([["traceparent", PARENT], ...lines])).tracestate).toBeNull();
  });
});
