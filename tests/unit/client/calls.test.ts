/** Tests of how the client sends requests and reads responses, with a network of its own. */
import { describe, expect, test } from "bun:test";
import { apiKey, bearer, createClient, OstiaryError } from "@ostiary/client";
import { rejection } from "../../support/rejection.ts";
import { callsWith, refusal, type Sent } from "./network.ts";

const ORGANIZATION = { id: "o", name: "Engines" };
const fine = () => Response.json(ORGANIZATION);
const limited = (retryAfter: string) => () =>
  new Response("{}", { status: 429, headers: { "Retry-After": retryAfter } });
const away = (status: number) => () => new Response("no upstream", { status });
const reset = () => Promise.reject(new TypeError("connection reset"));
const of = (sent: Sent[]) => sent.map(({ method, url }) => `${method} ${url}`);

describe("a read", () => {
  // CL-3
  test.each([
    ["429", limited("2"), 2_000],
    ["429 without Retry-After", () => new Response("{}", { status: 429 }), null],
    ["429 with nonsense", limited("Thu, 01 Jan 1970 00:00:00 GMT"), null],
    ["502", away(502), null],
    ["503 with Retry-After", () => new Response("", { status: 503, headers: { "Retry-After": "1" } }), 1_000],
    ["a reset connection", reset, null],
  ])("is repeated after %s", async (_, failure, waitMs) => {
    const { options, sent, waits } = callsWith([failure, fine]);
    expect((await createClient(options).GET("/org")).data).toMatchObject(ORGANIZATION);
    expect(of(sent)).toEqual(["GET https://api.test/org", "GET https://api.test/org"]);
    if (waitMs !== null) expect(waits).toEqual([waitMs]);
    else expect(waits[0]).toBeWithin(200, 301);
  });

  // CL-3
  test("is repeated as often as configured, and then fails with the last response", async () => {
    const { options, sent } = callsWith([away(503), away(503), away(503), fine]);
    expect(await rejection(createClient(options).GET("/org"))).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      status: 503,
    });
    expect(sent).toHaveLength(3);
    const never = callsWith([away(503), fine]);
    await rejection(createClient({ ...never.options, retries: 0 }).GET("/org"));
    expect(never.sent).toHaveLength(1);
  });

  // CL-3
  test.each(["2147484", "999999999"])(
    "does not wait for a Retry-After of %s s, which no timer takes",
    async (seconds) => {
      const { options, sent, waits } = callsWith([limited(seconds)]);
      const client = createClient({ ...options, waitMaxMs: Number.POSITIVE_INFINITY, retries: 10 });
      expect(await rejection(client.GET("/org"))).toMatchObject({ status: 429 });
      expect([sent.length, waits]).toEqual([1, []]);
    },
  );

  // CL-3
  test("does not wait for a Retry-After of a year", async () => {
    const { options, waits } = callsWith([limited("31536000"), fine]);
    const error = await rejection(createClient(options).GET("/org"));
    expect(error).toMatchObject({ status: 429, retry_after_seconds: 31_536_000 });
    expect(waits).toEqual([]);
  });

  // CL-3
  test.each([400, 401, 403, 404, 409, 500, 504])("is not repeated after %d", async (status) => {
    const { options, sent } = callsWith([away(status), fine]);
    expect(await rejection(createClient(options).GET("/org"))).toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  // CL-8
  test("ends at once when it is aborted while it waits, and throws the reason of the signal", async () => {
    const stop = new AbortController();
    const { options, sent } = callsWith([limited("50")]);
    const { wait: _, ...real } = options;
    const call = rejection(createClient(real).GET("/org", { signal: stop.signal }));
    const reason = new Error("no longer needed");
    stop.abort(reason);
    expect(await call).toBe(reason);
    expect(sent.length).toBeLessThan(2);
  });

  // CL-8
  test("throws the reason of the signal when it is aborted while the body arrives", async () => {
    const stop = new AbortController();
    const reason = new Error("no longer needed");
    const body = new ReadableStream({ pull: () => stop.abort(reason) }, { highWaterMark: 0 });
    const { options } = callsWith([() => new Response(body)]);
    expect(await rejection(createClient(options).GET("/org", { signal: stop.signal }))).toBe(reason);
  });
});

describe("a write", () => {
  // CL-3
  test.each(["POST", "PUT", "PATCH", "DELETE"] as const)("%s is never repeated", async (method) => {
    for (const failure of [limited("1"), away(502), away(503), reset]) {
      const { options, sent } = callsWith([failure, fine]);
      await rejection(
        createClient(options)
          .fetch("/x", { method })
          .then(({ status }) => Promise.reject(status)),
      );
      expect(sent).toHaveLength(1);
    }
  });
});

describe("a refused credential", () => {
  const keys = () => {
    const asked: (string | null)[] = [];
    const credential = bearer((refused) => {
      asked.push(refused);
      return refused === null ? "old" : "new";
    });
    return { asked, credential };
  };

  // CL-2
  test.each([
    ["GET", 2],
    ["PUT", 2],
    ["DELETE", 2],
    ["POST", 1],
    ["PATCH", 1],
  ] as const)("is renewed once, and %s is sent %d times", async (method, times) => {
    const { asked, credential } = keys();
    const { options, sent } = callsWith([refusal, times === 2 ? refusal : fine]);
    const client = createClient({ ...options, credential });
    expect((await client.fetch("/x", { method })).status).toBe(401);
    expect(asked).toEqual([null, "old"]);
    expect(sent.map(({ headers }) => headers.get("Authorization"))).toEqual(
      ["Bearer old", "Bearer new"].slice(0, times),
    );
  });

  // CL-2
  test.each([
    ["of a service", "GET", JSON.stringify({ error: "who are you" })],
    ["of a HEAD, which has no body", "HEAD", null],
  ])("is not renewed for the 401 %s", async (_, method, body) => {
    const { asked, credential } = keys();
    const { options } = callsWith([() => new Response(body, { status: 401 })]);
    await createClient({ ...options, credential }).fetch("/org", { method });
    expect(asked).toEqual([null]);
  });

  // CL-2
  test("that cannot be renewed is not sent again", async () => {
    const { options, sent } = callsWith([refusal, fine]);
    const error = await rejection(createClient({ ...options, credential: apiKey("key") }).GET("/org"));
    expect(error).toMatchObject({ code: "UNAUTHORIZED", request_id: "1" });
    expect(sent).toHaveLength(1);
  });

  // CL-2
  test.each(["", "a\nb", "näh", "a\u0000"])(
    "%j is refused before it is sent, without showing it",
    async (key) => {
      const { options, sent } = callsWith([fine]);
      const error = await rejection(
        createClient({ ...options, credential: apiKey(`secret${key}x`.slice(key === "" ? 7 : 0)) }).GET(
          "/org",
        ),
      );
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).not.toContain("secret");
      expect(sent).toEqual([]);
    },
  );
});

describe("an error", () => {
  // CL-5
  test("has the code, the status, the request id and the details of the response", async () => {
    const details = { fields: [{ path: "name", message: "The name is missing." }] };
    const error = {
      type: "invalid_request_error",
      code: "VALIDATION_ERROR",
      message: "Wrong.",
      request_id: "r1",
      details,
    };
    const { options } = callsWith([() => Response.json({ error }, { status: 422 })]);
    const thrown = await rejection(createClient(options).GET("/org"));
    expect(thrown).toBeInstanceOf(OstiaryError);
    expect(thrown).toMatchObject({
      code: "VALIDATION_ERROR",
      message: "Wrong.",
      status: 422,
      request_id: "r1",
      details,
    });
  });

  // CL-5
  test.each<[string, () => Response]>([
    [
      "HTML with 200",
      () => new Response("<html>Welcome</html>", { headers: { "Content-Type": "text/html" } }),
    ],
    ["HTML with 403", () => new Response("<html>Blocked</html>", { status: 403 })],
    ["an empty 200", () => new Response("")],
    ["a 200 without a body", () => new Response(null)],
    ["JSON that breaks off", () => new Response('{"id":')],
    ["an error of another form", () => Response.json({ error: { code: 7 } }, { status: 400 })],
    ["a list as an error", () => Response.json([1], { status: 400 })],
    ["null as an error", () => Response.json(null, { status: 400 })],
    ["a redirect", () => new Response(null, { status: 302, headers: { Location: "https://evil.test/" } })],
    ["304", () => new Response(null, { status: 304 })],
    ["an endless error", () => new Response("x".repeat(1_000_000), { status: 400 })],
  ])("of %s is an unexpected response", async (_, respond) => {
    const { options } = callsWith([respond]);
    const error = await rejection(createClient(options).GET("/org"));
    expect(error).toBeInstanceOf(OstiaryError);
    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: respond().status });
  });

  // CL-5
  test("is thrown for a body that is larger than the limit, and the rest is not read", async () => {
    let pulled = 0;
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(1_024));
          },
        }),
      );
    const { options } = callsWith([endless]);
    const error = await rejection(createClient({ ...options, bodyBytesMax: 10_000 }).GET("/org"));
    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 200 });
    expect(pulled).toBeLessThan(20);
  });

  // CL-5
  test.each([200, 401, 500])("is thrown for a %d whose body never ends", async (status) => {
    const stalled = () => new Response(new ReadableStream({}), { status });
    const { options } = callsWith([stalled]);
    const client = createClient({ ...options, credential: apiKey("key"), timeoutMs: 20 });
    expect(await rejection(client.GET("/org"))).toBeInstanceOf(OstiaryError);
  });

  // CL-5
  test("is thrown without a response in time, even if the network ignores signals", async () => {
    const { options } = callsWith([() => new Promise<Response>(() => {})]);
    const error = await rejection(createClient({ ...options, timeoutMs: 20, retries: 0 }).GET("/org"));
    expect(error).toMatchObject({ code: "NO_RESPONSE", status: null });
  });
});

describe("a successful call", () => {
  const asCsv = { params: { query: { format: "csv" } } } as const;

  // CL-5
  test.each([204, 205])("has no data with %d", async (status) => {
    const { options } = callsWith([() => new Response(null, { status })]);
    expect((await createClient(options).DELETE("/user")).data).toBeUndefined();
  });

  test.each([
    ["text", "a,b"],
    ["blob", new Blob(["a,b"])],
    ["arrayBuffer", new TextEncoder().encode("a,b").buffer],
  ] as const)("is read as %s", async (parseAs, expected) => {
    const { options } = callsWith([() => new Response("a,b")]);
    const { data } = await createClient(options).GET("/org/audit-events/export", { ...asCsv, parseAs });
    expect<unknown>(data).toEqual(expected);
  });

  test("is streamed without a limit", async () => {
    const { options } = callsWith([() => new Response("a".repeat(100))]);
    const client = createClient({ ...options, bodyBytesMax: 10 });
    const { data } = await client.GET("/org/audit-events/export", { ...asCsv, parseAs: "stream" });
    expect(await new Response(data).text()).toHaveLength(100);
  });
});
