/** Runs the curl commands of descriptions in shells, against a server that records what arrives. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { curlCommand, operationSamples } from "@ostiary/lib/openapi";
import fc from "fast-check";
import { ADMIN_TOKEN, service, useRegistry } from "../../app/registry/bed.ts";
import { operationsIn } from "../../support/http/openapi.ts";
import { runs } from "../../support/runs.ts";
import { edgeDocument } from "../../unit/edge-description/build.ts";
import { run } from "./clients/services.ts";
import { servedDocuments } from "./served-descriptions.ts";

const SHELLS = ["bash", "zsh", "dash"].filter((shell) => Bun.which(shell) !== null);
const SECRET = "the-secret-of-the-person";
const TOKEN = "a$b`c !! 'd'";

interface Sample {
  lang: string;
  source: string;
}
const sourceOf = (operation: object): string => {
  const samples: Sample[] = Reflect.get(operation, "x-codeSamples") ?? [];
  expect(samples.map(({ lang }) => lang)).toEqual(["Shell"]);
  return samples[0]?.source ?? "";
};

interface Received {
  method: string;
  target: string;
  headers: Headers;
  body: string;
}

let server: Bun.Server<undefined>;
let received: Received[] = [];
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      received.push({ method, target: pathname + search, headers, body: await request.text() });
      return new Response("done");
    },
  });
});
afterAll(() => server.stop(true));

/** Runs commands in one shell, and returns the requests that they sent. */
async function sent(shell: string, commands: readonly string[]): Promise<Received[]> {
  received = [];
  const script = commands.map((command) => `${command} -s -o /dev/null`).join("\n");
  const env = { API_URL: server.url.origin, API_KEY: TOKEN, TOKEN, AWS_SECRET_ACCESS_KEY: SECRET };
  expect(await run([shell, "-c", script], { cwd: "/etc", env })).toEqual({ code: 0, stdout: "", stderr: "" });
  return received;
}

/** Texts that a shell or curl would read in another way than as they are. */
const HOSTILE = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell must not see a variable here
  "${AWS_SECRET_ACCESS_KEY}",
  "$AWS_SECRET_ACCESS_KEY",
  "`id`",
  "$(id)",
  "@/etc/passwd",
  "-o /tmp/x",
  "--config",
  "it's",
  "'",
  "'; exit 9; '",
  "\\",
  "\\'",
  "a\\",
  '"',
  "!!",
  "%{url}",
  "{a,b}",
  "~root",
  "#",
  "é 🚪",
  "\u202e",
] as const;
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "grapheme" })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(""));
const CONTROL = /[\p{Cc}]/gu;

describe.each(SHELLS)("in %s", (shell) => {
  // RG-157
  test("a hostile value arrives as it is written, and is not executed", async () => {
    const values = [...HOSTILE, ...fc.sample(hostile, runs(6))];
    const commands = values.map((value) =>
      curlCommand({
        method: "POST",
        origin: { variable: "API_URL" },
        target: `/things?q=${encodeURIComponent(value)}`,
        credential: { name: "Authorization", isBearer: true, variable: "TOKEN" },
        headers: [
          ["Content-Type", `text/plain; x=${value}`],
          ["X-Length", String(value.length)],
        ],
        body: value,
      }),
    );
    const requests = await sent(shell, commands);
    for (const [index, value] of values.entries()) {
      const request = requests[index];
      expect(request?.body).toBe(value.replace(/[^\P{Cc}\t\n]/gu, ""));
      expect(new URL(request?.target ?? "", server.url).searchParams.get("q")).toBe(value);
      expect(request?.headers.get("authorization")).toBe(`Bearer ${TOKEN}`);
      const type = Buffer.from(request?.headers.get("content-type") ?? "", "latin1").toString();
      expect(type.replace(CONTROL, " ").trim()).toBe(`text/plain; x=${value.replace(CONTROL, "")}`.trim());
    }
    expect(requests).toHaveLength(values.length);
  });

  // RG-157
  test("the samples of hostile descriptions send one request each, and nothing of the environment", async () => {
    const operations = fc.sample(hostileOperation, runs(6)).map((operation) => {
      const paths = { "/w/{id}": { post: operation } };
      const made = edgeDocument(
        { w: { url: "http://w:1", organization: { routes: [{ path: "/w/{id}", methods: ["POST"] }] } } },
        { w: { openapi: "3.1.0", paths } },
      );
      return operationsIn(made)[0] ?? {};
    });
    const requests = await sent(shell, operations.map(sourceOf));
    expect(requests).toHaveLength(operations.length);
    for (const { method, target, headers, body } of requests) {
      expect([method, headers.get("x-api-key")]).toEqual(["POST", TOKEN]);
      expect(target).toMatch(/^\/w\/[^/]+$/);
      expect([...headers.values(), target, body].join()).not.toContain(SECRET);
      expect(body).not.toContain("root:");
      expect(headers.get("x-injected")).toBeNull();
    }
  });
});

const hostileOperation = fc
  .record({
    example: hostile,
    type: hostile,
    name: hostile,
    value: hostile,
    dots: fc.constantFrom(".", ".."),
  })
  .map(({ example, type, name, value, dots }) => ({
    parameters: [
      { name: "id", in: "path", required: true, example: dots, schema: {} },
      { name: "X-A", in: "header", required: true, example: `${value}\r\nX-Injected: 1`, schema: {} },
      { name, in: "header", required: true, example, schema: {} },
      { name: "@passwd", in: "header", required: true, example, schema: {} },
    ],
    requestBody: {
      content: { [`text/plain; x=${type}`]: { example }, "application/json": { example: { [name]: value } } },
    },
    responses: { 200: { description: "" } },
  }));

// RG-157
describe.each(SHELLS.filter((shell) => shell !== "dash"))("in an interactive %s", (shell) => {
  test("no value is taken for an earlier command of the history", async () => {
    const values = ["!!", "!-1 it's", 'a\n!e "b"', "!echo", "^echo^x"];
    const commands = values.map((body) =>
      curlCommand({
        method: "PUT",
        origin: server.url.origin,
        target: "/",
        credential: null,
        headers: [],
        body,
      }),
    );
    received = [];
    const child = Bun.spawn([shell, ...(shell === "bash" ? ["--norc", "-i"] : ["-f", "-i"])], {
      stdin: new Blob(["set -H 2>/dev/null\n", "echo secret\n", ...commands.map((each) => `${each} -s\n`)]),
      stdout: "ignore",
      stderr: "ignore",
    });
    await child.exited;
    expect(received.map(({ body }) => body)).toEqual(values);
  });
});

// RG-157
describe("a curl command", () => {
  const command = (more: Partial<Parameters<typeof curlCommand>[0]>) =>
    curlCommand({
      method: "GET",
      origin: "http://h",
      target: "/",
      credential: null,
      headers: [],
      body: null,
      ...more,
    });

  test("leaves out control characters, which a terminal could take for keys", () => {
    const body = "a\0b\x03c\x1b[201~d\x7fe\x9bf\tg\nh";
    expect(command({ body })).toBe("curl 'http://h/' \\\n  --data-raw 'abc[201~def\tg\nh'");
    expect(command({ headers: [["A", "b\r\nC: d\te"]] })).toBe("curl 'http://h/' \\\n  -H 'A: b C: d\te'");
  });

  test("is one word for each value in fish too, where a backslash can escape in single quotes", () => {
    expect(command({ body: "a\\" })).toEndWith("--data-raw 'a'\\\\''");
    expect(command({ body: "\\'" })).toEndWith("--data-raw ''\\\\''\\'''");
    expect(command({ body: '{"a":"\\n"}' })).toEndWith(`--data-raw '{"a":"\\n"}'`);
  });

  test("calls the path of its operation, whatever the examples of its params are", () => {
    for (const example of [".", "..", "", "a/../..", "%2e%2e", "?x", "#x", "\\..", "\ud800"]) {
      const [sample] = operationSamples({
        method: "DELETE",
        path: "/org/things/{id}/parts",
        origin: "http://h",
        credential: null,
        parameters: [{ name: "id", in: "path", example }],
        body: null,
      });
      const url = /'(.*)'/.exec(sample?.source ?? "")?.[1] ?? "";
      expect(new URL(url).pathname).toMatch(/^\/org\/things\/[^/]+\/parts$/);
    }
  });
});

describe("the registry's", () => {
  const registry = useRegistry();
  beforeAll(async () => {
    await registry.put("widgets", service("/widgets"));
  });

  test("curl commands work unchanged", async () => {
    const { registry: document } = await servedDocuments();
    const env = { REGISTRY_URL: registry.url, ADMIN_TOKEN };
    const apply = operationsIn(document).find(({ operationId }) => operationId === "apply") ?? {};
    const written = await run(["bash", "-c", `${sourceOf(apply)} -s`], { cwd: "/", env });
    expect(JSON.parse(written.stdout)).toMatchObject({ results: [{ status: "upserted" }] });
  });
});
