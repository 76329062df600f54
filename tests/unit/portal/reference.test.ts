/** Tests of how the API reference of the portal reads a description, and makes the calls of its operations. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bodyOf,
  groupsOf,
  isGranted,
  parametersOf,
  plainOf,
  readDescription,
} from "../../../apps/portal/page/reference/description.ts";
import {
  curlOf,
  problemsOf,
  readResponse,
  readyCall,
  SHOWN_BYTES_MAX,
} from "../../../apps/portal/page/reference/request.ts";

const HOSTILE = `<img src=x onerror="window.ran=1">`;
const ORIGIN = "https://api.example.com";

const operation = (more: Record<string, unknown> = {}) => ({
  operationId: "getThing",
  summary: "Get a thing",
  tags: ["things"],
  "x-scope": "organization",
  ...more,
});

function described(paths: Record<string, unknown>, components: unknown = {}) {
  const read = readDescription({ openapi: "3.1.0", paths, components });
  if (read === null) throw new Error("The description was not readable.");
  return read;
}

/** Reads a description with one operation, and returns that operation as `found`. */
function only(path: string, method: string, more: Record<string, unknown> = {}, components: unknown = {}) {
  const read = described({ [path]: { [method]: operation(more) } }, components);
  const [found] = read.operations;
  if (found === undefined) throw new Error("The operation was left out.");
  return { found, ...read };
}

describe("a description", () => {
  // PT-41
  test("shows what the role grants: operations without labels, with one of its labels, and all for *", () => {
    const { operations } = described({
      "/a": { get: operation({ operationId: "a" }) },
      "/b": { get: operation({ operationId: "b", "x-required-labels": ["things:read", "things:write"] }) },
      "/c": { get: operation({ operationId: "c", "x-required-labels": [] }) },
    });
    const grantedTo = (...labels: string[]) =>
      operations
        .filter((each) => isGranted(each, { may: (label) => labels.includes(label) }))
        .map(({ id }) => id);
    expect(grantedTo()).toEqual(["a"]);
    expect(grantedTo("things:write")).toEqual(["a", "b"]);
    const all = operations.filter((each) => isGranted(each, { may: () => true }));
    expect(all.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  // PT-42, PT-45
  test.each([
    ...["//evil.example/x", "/\\evil.example/x", "https://evil.example/x", "javascript:alert(1)", "/a/../b"],
    ...["/a/./b", "/a/%2e%2E", "/..", "/a?b=c", "/a#b", "/a b", "", "a"],
  ])("leaves out the path %p, which can lead to another path or host", (path) => {
    const item = { get: operation() };
    const { operations, leftOut } = described({ [path]: item, "/fine": item });
    expect([operations.map((each) => each.path), leftOut]).toEqual([["/fine"], 1]);
  });

  // PT-45
  test.each([
    ["an unknown method", { trace: operation() }],
    ["an unknown scope", { get: operation({ "x-scope": "__proto__" }) }],
    ["no id", { get: operation({ operationId: 7 }) }],
    ["something other than an object", { get: "x" }],
  ])("leaves out %s", (_, item) => {
    expect(described({ "/x": item })).toMatchObject({ operations: [], leftOut: 1 });
  });

  // PT-45
  test("keeps the first of two operations with one id, and accepts __proto__ as an id", () => {
    const read = described({
      "/a": { get: operation({ operationId: "__proto__" }) },
      "/b": { get: operation({ operationId: "__proto__" }) },
      "/constructor": { get: operation({ operationId: "constructor" }) },
    });
    expect(read.operations.map(({ id, path }) => [id, path])).toEqual([
      ["__proto__", "/a"],
      ["constructor", "/constructor"],
    ]);
    expect(read.leftOut).toBe(1);
  });

  // PT-45
  test("of 12 000 operations shows the first 10 000 and counts the others", () => {
    const paths = Object.fromEntries(
      Array.from({ length: 12_000 }, (_, each) => [
        `/p${each}`,
        { get: operation({ operationId: `o${each}` }) },
      ]),
    );
    const read = described(paths);
    expect([read.operations.length, read.leftOut]).toEqual([10_000, 2_000]);
  });

  // PT-45
  test.each([
    ["a text", HOSTILE],
    ["a number", 7],
    ["an object without paths", {}],
    ["an object whose paths are a list", { paths: [] }],
  ])("is refused if it is %s", (_, value) => {
    expect(readDescription(value)).toBeNull();
  });

  // PT-45
  test("is read without an exception, whatever it contains", () => {
    const part = fc.jsonValue({ maxDepth: 3 });
    const fields = "parameters requestBody summary description tags deprecated".split(" ");
    const field = fc.constantFrom(...fields);
    fc.assert(
      fc.property(fc.dictionary(field, part), part, part, (fields, components, examples) => {
        const source = operation({ ...fields, "x-required-labels": examples });
        const { operations, lookUp } = described({ "/x/{id}": { post: source } }, components);
        for (const each of operations) {
          const body = bodyOf(each, lookUp);
          const form = {
            operation: each,
            parameters: parametersOf(each),
            body: body === "file" ? null : body,
          };
          problemsOf(form, {});
          curlOf(form, {}, ORIGIN);
        }
      }),
    );
  });
});

describe("the form of an operation", () => {
  // PT-42
  test("has each param of the path, even if the description lacks it, and no header that the page sets", () => {
    const { found } = only("/org/{a}/{b}", "get", {
      parameters: [
        { name: "b", in: "path", required: true, schema: { examples: ["01J"] } },
        { name: "q", in: "query", required: true, example: 7 },
        ...["X-API-Key", "authorization", "Cookie", "Sec-Fetch-Site", "bad header", "a\r\nb"].map((name) => ({
          name,
          in: "header",
        })),
        { name: "Idempotency-Key", in: "header" },
        { name: "c", in: "cookie" },
        null,
      ],
    });
    expect(
      parametersOf(found).map(({ place, name, required, example }) => [place, name, required, example]),
    ).toEqual([
      ["path", "a", true, ""],
      ["path", "b", true, "01J"],
      ["query", "q", true, "7"],
      ["header", "Idempotency-Key", false, ""],
    ]);
  });

  // PT-42
  test("starts with a sample of the body, which is short even for recursive schemas", () => {
    const json = (schema: unknown) => ({
      requestBody: { required: true, content: { "application/json": { schema } } },
    });
    const ref = { $ref: "#/components/schemas/Node" };
    const schemas = {
      Node: { type: "object", properties: { left: ref, right: ref }, required: ["left", "right"] },
    };
    const circle = only("/x", "post", json(ref), { schemas });
    const sample = bodyOf(circle.found, circle.lookUp);
    expect(sample).toMatchObject({ type: "application/json", required: true });
    const plain = only("/x", "post", json({ type: "object", properties: { name: { examples: ["Ada"] } } }));
    expect(bodyOf(plain.found, plain.lookUp)).toMatchObject({ sample: '{\n  "name": "Ada"\n}' });
  });

  // PT-42
  test("has no body for GET, an empty text for an unknown type, and no text for a file", () => {
    const content = (type: string) => ({ requestBody: { content: { [type]: {} } } });
    const of = (method: string, type: string) => {
      const { found, lookUp } = only("/x", method, content(type));
      return bodyOf(found, lookUp);
    };
    expect(of("get", "application/json")).toBeNull();
    expect(of("post", "multipart/form-data")).toBe("file");
    expect(of("post", "*/*")).toEqual({ type: "application/json", required: false, sample: "" });
    expect(of("put", "text/csv; charset=utf-8")).toEqual({ type: "text/csv", required: false, sample: "" });
  });
});

describe("the call of an operation", () => {
  const thing = () => {
    const { found, lookUp } = only("/org/things/{id}", "put", {
      parameters: [
        { name: "id", in: "path", required: true },
        { name: "dry", in: "query" },
        { name: "If-Match", in: "header" },
      ],
      requestBody: { required: true, content: { "application/json": {} } },
    });
    const body = bodyOf(found, lookUp);
    if (body === "file") throw new Error("The body is a file.");
    return { operation: found, parameters: parametersOf(found), body };
  };
  // PT-42, PT-43
  test("escapes every value, so that no value changes the path", () => {
    const values = { "path id": "a/../b?c#d%2e", "query dry": "x&y=z", "header If-Match": '"1"' };
    expect(readyCall(thing(), { ...values, body: "{}" })).toMatchObject({
      address: "/org/things/a%2F..%2Fb%3Fc%23d%252e?dry=x%26y%3Dz",
      call: { as: "member", method: "PUT", headers: { "If-Match": '"1"' }, content: { text: "{}" } },
    });
  });

  // PT-43
  test.each<[string, Record<string, string>, string, Record<string, string>]>([
    ["a missing param", {}, "{}", { "path id": "missing" }],
    ["one dot", { "path id": "." }, "{}", { "path id": "dots" }],
    ["two dots", { "path id": ".." }, "{}", { "path id": "dots" }],
    [
      "a header of two lines",
      { "path id": "1", "header If-Match": "a\nb" },
      "{}",
      { "header If-Match": "header" },
    ],
    ["a missing body", { "path id": "1" }, " ", { body: "missing" }],
    ["a body that is not JSON", { "path id": "1" }, "{", { body: "json" }],
    ["a body of 30 000 brackets", { "path id": "1" }, "[".repeat(30_000), { body: "json" }],
  ])("with %s is not made", (_, values, text, problems) => {
    const found = Object.entries(problemsOf(thing(), { ...values, body: text }));
    expect<unknown>(Object.fromEntries(found.filter(([, problem]) => problem !== null))).toEqual(problems);
  });

  // PT-42
  test("as a curl command passes every value unchanged through a shell, and executes no value", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell must not see a variable here
    const hostile = '\'; touch /nowhere/x; $(id) `id` "${HOME}" !!';
    const values = { "path id": hostile, "header If-Match": hostile };
    const command = curlOf(thing(), { ...values, body: JSON.stringify(hostile) }, ORIGIN);
    const shell = Bun.spawnSync(["sh", "-c", `API_KEY=key; curl() { printf '%s\\0' "$@"; }; ${command}`]);
    expect(shell.stdout.toString().split("\0")).toEqual([
      "-X",
      "PUT",
      `${ORIGIN}/org/things/${encodeURIComponent(hostile)}`,
      "-H",
      "X-API-Key: key",
      "-H",
      "Content-Type: application/json",
      "-H",
      `If-Match: ${hostile}`,
      "--data-raw",
      JSON.stringify(hostile),
      "",
    ]);
  });

  // PT-42
  test.each<[string, string | null]>([
    ["user", "Authorization: Bearer $TOKEN"],
    ["member", "X-API-Key: $API_KEY"],
    ["public", null],
  ])("of scope %s has a variable for its credential", (scope, header) => {
    const { found } = only("/x/{id}", "get", { "x-scope": scope });
    const command = curlOf({ operation: found, parameters: parametersOf(found), body: null }, {}, ORIGIN);
    expect(command).toBe(`curl '${ORIGIN}/x/ID'${header === null ? "" : ` \\\n  -H "${header}"`}`);
  });
});

describe("a response", () => {
  // PT-44
  test("shows its status, its rate limit headers, and its text, indented if it is JSON", async () => {
    const headers = {
      "Content-Type": "application/json",
      "X-RateLimit-Limit": "3",
      "Retry-After": "90",
      "X-Other": "1",
    };
    const response = await readResponse(new Response(`{"a":"b"}`, { status: 429, headers }));
    expect(response).toMatchObject({ status: 429, cut: false });
    expect(response.text).toBe(JSON.stringify({ a: "b" }, null, 2));
    expect(response.headers).toEqual([
      ["x-ratelimit-limit", "3"],
      ["retry-after", "90"],
      ["content-type", "application/json"],
    ]);
  });

  // PT-44
  test("is read up to 1 MiB, and the rest is canceled", async () => {
    let canceled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (out) => out.enqueue(new Uint8Array(100_000).fill(120)),
      cancel: () => {
        canceled = true;
      },
    });
    const response = await readResponse(new Response(endless, { headers: { "Content-Type": "text/plain" } }));
    expect({ ...response, text: response.text?.length }).toMatchObject({
      bytes: SHOWN_BYTES_MAX,
      text: SHOWN_BYTES_MAX,
      cut: true,
    });
    expect(canceled).toBe(true);
  });

  // PT-44
  test("shows the part that arrived if it breaks off, and no text if it is not text", async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (out) => out.enqueue(new TextEncoder().encode("half")),
      pull: (out) => out.error(new Error("gone")),
    });
    expect(await readResponse(new Response(broken))).toMatchObject({ text: "half", cut: true });
    const image = new Response(new Uint8Array(7), { headers: { "Content-Type": "image/png" } });
    expect(await readResponse(image)).toMatchObject({ text: null, bytes: 7, cut: false });
    const empty = await readResponse(new Response(null, { status: 204 }));
    expect(empty).toMatchObject({ status: 204, bytes: 0, cut: false });
  });
});

// PT-42
test("a text of a description loses the marks of emphasis, code and links, and is read in linear time", () => {
  expect(plainOf("**Callers:** `x` in [y](z)\n- <img src=x>")).toBe("Callers: x in y\n- <img src=x>");
  for (const mark of ["**a", "`", "[", "[a](", "*"]) {
    expect(plainOf(mark.repeat(20_000 / mark.length)).length).toBeLessThanOrEqual(20_000);
  }
});

// PT-41
test("the groups begin with the services of the customer, and end with proof and plumbing", () => {
  const get = (operationId: string, tag?: string) => ({
    get: { operationId, "x-scope": "organization", ...(tag !== undefined && { tags: [tag] }) },
  });
  const { operations } = described({
    "/audit-log/checkpoint": get("a", "Proof"),
    "/edge/openapi.json": get("b", "registry"),
    "/org/members": get("c", "Members"),
    "/org/widgets": get("d", "Widgets"),
    "/members": get("e", "Members"),
    "/zoo": get("f", "Zoo"),
    "/plain": get("g"),
    "/org/widgets/{id}": get("h", "Widgets"),
  });
  const groups = groupsOf(operations);
  expect(groups.map(([key, operations]) => [key.slice(2), operations.map(({ id }) => id).join("")])).toEqual([
    ["Members", "e"],
    ["Widgets", "dh"],
    ["Zoo", "f"],
    ["", "g"],
    ["Members", "c"],
    ["Proof", "a"],
    ["registry", "b"],
  ]);
});
