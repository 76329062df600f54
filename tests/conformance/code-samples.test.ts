/** Tests that the code samples in the OpenAPI descriptions (shell, TypeScript and Python) work. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { codeSamples } from "@ostiary/lib/openapi";
import { ADMIN_TOKEN, type Registry, service, startRegistry } from "../app/registry/harness.ts";
import { operationsIn } from "../support/openapi.ts";
import { run } from "./clients/services.ts";
import { servedDocuments } from "./served-descriptions.ts";

interface Sample {
  label: string;
  source: string;
}

const documents = await servedDocuments();
const samplesOf = (operation: object): Sample[] => Reflect.get(operation, "x-codeSamples") ?? [];
const sources = (label: string) =>
  Object.values(documents).flatMap((document) =>
    operationsIn(document).flatMap((each) =>
      samplesOf(each).flatMap((sample) => (sample.label === label ? [sample.source] : [])),
    ),
  );

/** A text with characters that end or change a string literal in one of the languages. */
const AWKWARD = `it's "a" \`b\` $(c) \${d} {e} %7B \\ é 🚪 </script>`;
const awkward = codeSamples({
  method: "POST",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  url: "${API_URL}/a?b={c}&d=$e",
  headers: [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
    ["Authorization", "Bearer ${TOKEN}"],
    ["X-Text", AWKWARD],
  ],
  body: { json: { text: AWKWARD, none: null, yes: true, list: [1.5, {}] } },
});

function sourceOf(samples: readonly Sample[], wanted: string): string {
  const found = samples.find(({ label }) => label === wanted);
  if (found === undefined) throw new Error(`There is no sample in ${wanted}.`);
  return found.source;
}
const awkwardSource = (label: string) => sourceOf(awkward, label);

test("every operation has one code sample in each language", () => {
  for (const document of Object.values(documents)) {
    const operations = operationsIn(document);
    expect(operations).not.toEqual([]);
    for (const operation of operations) {
      expect(samplesOf(operation).map(({ label }) => label)).toEqual(["curl", "TypeScript", "Python"]);
    }
  }
});

test("shell samples are valid shell", async () => {
  const script = [...sources("curl"), awkwardSource("curl")].join("\n");
  expect(await run(["bash", "-n", "-c", script], { cwd: "/" })).toMatchObject({ code: 0, stderr: "" });
});

test("TypeScript samples are valid TypeScript", () => {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  for (const source of [...sources("TypeScript"), awkwardSource("TypeScript")])
    transpiler.transformSync(source);
});

const PYTHON = Bun.which("python3");

test.skipIf(PYTHON === null)("Python samples are valid Python", async () => {
  const all = JSON.stringify([...sources("Python"), awkwardSource("Python")]);
  const check = `import ast, json\nfor source in json.loads(${JSON.stringify(all)}): ast.parse(source)`;
  expect(await run([String(PYTHON), "-c", check], { cwd: "/" })).toMatchObject({ code: 0, stderr: "" });
});

test("no text breaks out of a string literal of a sample: the request arrives as intended", async () => {
  const received = Promise.withResolvers<unknown>();
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      received.resolve([pathname + search, request.headers.get("authorization"), await request.json()]);
      return new Response("done");
    },
  });
  const env = { API_URL: server.url.origin, TOKEN: "a$b`c" };
  const withoutText = awkwardSource("curl").replace(/^ {2}-H 'X-Text: .*\n/m, "");
  const answer = await run(["bash", "-c", `${withoutText} -g -s -H 'Content-Type: application/json'`], {
    cwd: "/",
    env,
  });
  expect(answer).toMatchObject({ code: 0, stdout: "done" });
  expect(await received.promise).toEqual([
    "/a?b={c}&d=$e",
    "Bearer a$b`c",
    { text: AWKWARD, none: null, yes: true, list: [1.5, {}] },
  ]);
});

describe("the registry's", () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry();
    await registry.put("widgets", service("/widgets"));
  });
  afterAll(() => registry.stop());

  const sample = (operationId: string, label: string) => {
    const operation = operationsIn(documents.registry).find((each) => each.operationId === operationId);
    return sourceOf(samplesOf(operation ?? {}), label);
  };

  test("code samples work unchanged", async () => {
    const env = { REGISTRY_URL: registry.url, ADMIN_TOKEN };
    const written = await run(["bash", "-c", `${sample("apply", "curl")} -s`], { cwd: "/", env });
    expect(JSON.parse(written.stdout)).toMatchObject({ results: [{ status: "upserted" }] });
    const source = sample("getService", "TypeScript");
    const read = await run([process.execPath, "-e", source], { cwd: "/", env });
    expect(JSON.parse(read.stdout)).toMatchObject({ name: "widgets" });
  });
});
