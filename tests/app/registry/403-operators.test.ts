import { beforeAll, describe, expect, test } from "bun:test";
import { sha256Of } from "@ostiary/lib/runtime/config/operators-file";
import { duringTests } from "../../support/during-tests.ts";
import { type OpenApiDocument, operationsIn, type PlacedOperation } from "../../support/http/openapi.ts";
import { services, waitFor } from "../../support/index.ts";
import { type Client, service as configOf, startRegistry, tokenOf } from "./bed.ts";
import { claiming, entry, inSeconds, OperatorProvider } from "./operators.ts";

const PAST = "2020-01-01T00:00:00Z";
const PUBLISHER = {
  services: ["own-*"],
  paths: ["/own", "/teams/{team}/own"],
  urls: ["http://own:8080", "http://others:8080"],
};

const provider = duringTests(OperatorProvider.start);
const admin = duringTests(() =>
  startRegistry({
    operators: [
      entry("root", "admin"),
      entry("docs", "reader"),
      entry("team", "publisher", PUBLISHER),
      entry("former", "admin", { expires_at: PAST }),
      claiming("signed-root", "admin"),
      claiming("signed-docs", "reader"),
      claiming("signed-team", "publisher", PUBLISHER),
      claiming("signed-former", "admin", { expires_at: PAST }),
    ],
    env: provider.env,
  }),
);
let operations: PlacedOperation[];

/** The tokens that the identity provider signed, by the name of the operator. */
const signed = new Map<string, string>();

/**
 * Returns a client with an operator's token: the one that the identity provider signed, or the listed one.
 */
const as = (name: string): Client => admin.with(signed.get(name) ?? tokenOf(name));

beforeAll(async () => {
  for (const name of ["signed-root", "signed-docs", "signed-team", "signed-former"]) {
    signed.set(name, await provider.token({ team: name }));
  }
  signed.set("signed-late", await provider.token({ team: "signed-root", exp: inSeconds(-31) }));
  // The registry responds with 503 until it has loaded the keys, which is later than its request for them.
  await waitFor(async () => (await as("signed-root").call("GET", "/operator")).status === 200);
  const document: OpenApiDocument = (await admin.call("GET", "/swagger/json")).body;
  operations = operationsIn(document);
});

/** Returns a config whose address is the team's, or that of the other teams by their names. */
const service = (...paths: string[]) => ({ ...configOf(...paths), url: "http://own:8080" });
const serviceOf = (name: string, path: string) =>
  name.startsWith("own-") ? service(path) : { ...configOf(path), url: "http://others:8080" };

let count = 0;

/** A service to write to. No other test uses its name and paths. */
interface Target {
  readonly name: string;
  /** The path in revision 1. */
  readonly first: string;
  /** The path in revision 2, the current one. */
  readonly current: string;
  /** The path that a test writes. */
  readonly next: string;
}

/** The owner of each kind of service, and the places of its paths in revisions 1 and 2 and in the write. */
const kinds = {
  "an own service": ["own", "/own", "/own", "/teams/{t}/own"],
  "a service of another team": ["other", "/own", "/own", "/own"],
  "an own service to which the write adds a foreign path": ["own", "/other", "/own", "/other"],
  "an own service that has a foreign path": ["own", "/own", "/owned", "/own"],
} as const;
type Places = (typeof kinds)[keyof typeof kinds];

/** Calls an operation that writes, for a target. Its body is a document, a service, or nothing. */
function write(client: Client, { method, path, requestBody }: PlacedOperation, { name, next }: Target) {
  const { $ref } = requestBody?.content["application/json"]?.schema ?? {};
  const document = { services: { [name]: serviceOf(name, next) } };
  const body =
    $ref === "#/components/schemas/ConfigDocument" ? document : requestBody && serviceOf(name, next);
  return client.call(method, path.replace("{name}", name).replace("{rev}", "1"), body);
}
const dryRun = (client: Client, { name, next }: Target) =>
  client.call("POST", "/apply?dry_run=true", { services: { [name]: serviceOf(name, next) } });

/** Returns whether an operator may do a write. A deletion adds no path, so only the current paths count. */
function mayWrite(operator: string, method: string, kind: string): boolean {
  if (["admin", "root", "signed-root"].includes(operator)) return true;
  if (operator !== "team" && operator !== "signed-team") return false;
  if (kind === "an own service to which the write adds a foreign path") return method === "DELETE";
  return kind === "an own service";
}

async function prepared([owner, first, current, next]: Places): Promise<Target> {
  count += 1;
  const target = {
    name: `${owner}-${count}`,
    first: `${first}/${count}/1`,
    current: `${current}/${count}/2`,
    next: `${next}/${count}/3`,
  };
  for (const path of [target.first, target.current]) {
    expect((await admin.put(target.name, serviceOf(target.name, path))).status).toBe(200);
  }
  return target;
}

const revisionsOf = async (name: string): Promise<unknown[]> =>
  (await admin.call("GET", `/services/${name}/revisions`)).body.revisions;

const operators = ["root", "docs", "team", "signed-team"];

// RG-113, RG-114, RG-117, RG-124
describe("operators × operations × services", () => {
  const cells = operators.flatMap((operator) =>
    Object.entries(kinds)
      .filter((_, index) => operator === "team" || index === 1)
      .map(([kind, at]) => [operator, kind, at] as const),
  );
  test.each(cells)("%s and %s: every write and dry run succeeds or is 403", async (operator, kind, at) => {
    const client = as(operator);
    const writes = operations.filter(({ method }) => method !== "GET");
    expect(writes.length).toBeGreaterThanOrEqual(4);
    for (const operation of writes) {
      const { operationId, method } = operation;
      const target = await prepared(at);
      const response = await write(client, operation, target);
      const isAllowed = mayWrite(operator, method, kind);
      const expected = isAllowed ? (method === "DELETE" ? 204 : 200) : 403;
      expect([operationId, response.status]).toEqual([operationId, expected]);
      expect(await revisionsOf(target.name)).toHaveLength(isAllowed ? 3 : 2);
    }
    const target = await prepared(at);
    const isAllowed = operator.endsWith("docs") || mayWrite(operator, "POST", kind);
    expect((await dryRun(client, target)).status).toBe(isAllowed ? 200 : 403);
    expect(await revisionsOf(target.name)).toHaveLength(2);
  });

  test.each(["docs", "signed-team"])("%s may call every operation that reads", async (operator) => {
    const { name, current } = await prepared(kinds["a service of another team"]);
    const reads = operations.filter(({ method }) => method === "GET");
    expect(reads.length).toBeGreaterThan(10);
    for (const { operationId, path, parameters = [] } of reads) {
      const required = parameters.filter((each) => each.in === "query" && each.required);
      const query = required.map(({ name: key }) => `${key}=${key === "method" ? "GET" : current}`).join("&");
      const filled = path.replace("{name}", name).replace(/\{\w+\}/g, "1");
      const { status } = await as(operator).call("GET", `${filled}?${query}`);
      expect([operationId, status]).toEqual([operationId, 200]);
    }
  });

  const strangers = ["former", "nobody", "signed-former", "signed-late"];
  // RG-1, RG-112, RG-123
  test.each(strangers)("%s is 401 everywhere, without a reason in the response", async (operator) => {
    // 401-admin-token.test.ts says which operations need no token.
    for (const { operationId, method, path } of operations.filter(({ security }) => security?.length !== 0)) {
      const response = await as(operator).call(method, path.replace(/\{\w+\}/g, "1"));
      const { error } = response.body;
      expect([operationId, response.status]).toEqual([operationId, 401]);
      expect({ ...error, request_id: "" }).toEqual({
        type: "invalid_request_error",
        code: "UNAUTHORIZED",
        message: "Authentication required.",
        request_id: "",
        details: null,
      });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  });
});

// RG-117
describe("a 403", () => {
  test("names every service and path outside of the bounds, and no part of the document is written", async () => {
    const response = await admin.as("team").apply({
      "own-whole": service("/own/whole"),
      "own-half": service("/own/half", "/other/half", "/other/{id}"),
      billing: service("/own/billing"),
    });
    expect(response.status).toBe(403);
    expect(response.body.error).toMatchObject({
      code: "FORBIDDEN",
      message:
        "Operator team may not publish service billing, /other/half of service own-half, /other/{id} of service own-half. Nothing was written.",
      details: {
        operator: "team",
        missing: [
          { service: "billing" },
          { service: "own-half", path: "/other/half" },
          { service: "own-half", path: "/other/{id}" },
        ],
      },
    });
    for (const name of ["own-whole", "own-half", "billing"]) {
      expect((await admin.call("GET", `/services/${name}`)).status).toBe(404);
    }
  });

  test("for a reader names the required role, and comes before the body is read", async () => {
    const { status, body } = await admin.as("docs").call("PUT", "/services/own-1?wait_ms=soon", "{");
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      message: "Operator docs is a reader and cannot write. Nothing was written.",
      details: { operator: "docs", required_role: "publisher", missing: [] },
    });
  });

  test("names the paths of tests too, so that no team can block another with a test", async () => {
    const absent = (path: string) => ({ name: path, method: "GET", path, expect: { status: 404 } });
    const tested = (path: string) => ({ "own-tested": { ...service("/own/tested"), tests: [absent(path)] } });
    const { status, body } = await admin.as("team").apply(tested("/other/free"));
    expect([status, body.error.details.missing]).toEqual([
      403,
      [{ service: "own-tested", path: "/other/free" }],
    ]);
    expect((await admin.call("GET", "/services/own-tested")).status).toBe(404);
    expect((await admin.as("team").apply(tested("/own/free"))).status).toBe(200);
  });

  test.each([
    ["/own/../other/free", "/other/free"],
    ["/own\\..\\other/free", "/other/free"],
    ["//own/free", "//own/free"],
    ["/own%2ffree", "/own%2ffree"],
  ])("compares the path %s of a test as a gateway resolves it", async (path, missing) => {
    const test = { name: "escape", method: "GET", path, expect: { status: 404 } };
    const { status, body } = await admin.as("team").put("own-escape", {
      ...service("/own/escape"),
      tests: [test],
    });
    expect([status, body.error?.details]).toEqual([
      403,
      { operator: "team", missing: [{ service: "own-escape", path: missing }] },
    ]);
    expect((await admin.call("GET", "/services/own-escape")).status).toBe(404);
  });
});

describe("a document that is both invalid and outside of the bounds", () => {
  // RG-42, RG-117
  test("is 422, so that the operator corrects it before asking for rights", async () => {
    const { status } = await admin.as("team").apply({ billing: { url: "no" } });
    expect(status).toBe(422);
  });
});

describe.skipIf(!services().postgres.real)("many operators at once", () => {
  // RG-50, RG-117
  test("a publisher never replaces a revision whose paths an admin moves out of its bounds at that moment", async () => {
    const name = "own-contended";
    await admin.put(name, service("/own/contended"));
    const team = admin.as("team");
    const tries = Array.from({ length: 8 }, (_, index) => [
      admin.put(name, service(index % 2 === 0 ? "/foreign/contended" : "/own/contended")),
      team.put(name, service(`/own/contended/${index}`)),
    ]).flat();
    const responses = await Promise.all(tries);
    expect(
      responses.map(({ status }) => status).filter((status) => status !== 200 && status !== 403),
    ).toEqual([]);
    const { revisions } = (await admin.call("GET", `/services/${name}/revisions`)).body;
    // Revisions are listed newest first. No revision of the team may follow a revision with a foreign path.
    const paths: string[] = revisions.map(
      (revision: { config: { user: { routes: { path: string }[] } } }) =>
        revision.config.user.routes[0]?.path ?? "",
    );
    for (const [index, path] of paths.entries()) {
      const before = paths[index + 1];
      if (/^\/own\/contended\/\d/.test(path)) expect(before).not.toStartWith("/foreign");
    }
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(revisions.length - 1);
  });
});

describe("GET /operator", () => {
  // RG-115
  test("returns the operator's name, role and bounds", async () => {
    expect((await admin.call("GET", "/operator")).body).toEqual({
      name: "admin",
      role: "admin",
      services: null,
      paths: null,
      urls: null,
    });
    expect((await admin.as("team").call("GET", "/operator")).body).toEqual({
      name: "team",
      role: "publisher",
      ...PUBLISHER,
    });
    expect((await admin.as("docs").call("GET", "/operator")).body).toEqual({
      name: "docs",
      role: "reader",
      services: [],
      paths: [],
      urls: [],
    });
    const wrong = admin.with(`${tokenOf("team")}x`);
    expect((await wrong.call("GET", "/operator")).status).toBe(401);
    expect((await admin.call("GET", "/operator?name=team")).status).toBe(422);
  });
});

// RG-174
describe("GET /operators", () => {
  test("lists to an admin who may call the registry, without hashes and without values of claims", async () => {
    const old = { sha256: sha256Of("old"), expires_at: "2020-01-01T00:00:00Z" };
    await using own = await startRegistry({
      env: provider.env,
      operators: [
        entry("docs", "reader", { expires_at: "2030-01-31T12:00:00+01:00" }),
        { ...entry("team", "publisher", { services: ["own"], paths: ["/own"] }), token_sha256: [old] },
        claiming("pipeline", "admin", { claims: { repository: "acme/secret", ref: "main" } }),
      ],
    });
    const { status, body } = await own.call("GET", "/operators");
    const all = { services: null, paths: null, urls: null };
    const none = { services: [], paths: [], urls: [] };
    const own_token = { expires_at: null, tokens: 1, claims: [] };
    expect([status, body]).toEqual([
      200,
      {
        operators: [
          { name: "admin", role: "admin", ...all, ...own_token },
          { name: "docs", role: "reader", ...none, ...own_token, expires_at: "2030-01-31T11:00:00.000Z" },
          {
            name: "team",
            role: "publisher",
            services: ["own"],
            paths: ["/own"],
            urls: [],
            ...own_token,
            tokens: 0,
          },
          {
            name: "pipeline",
            role: "admin",
            ...all,
            ...own_token,
            tokens: 0,
            claims: ["repository", "ref"],
          },
        ],
      },
    ]);
    for (const secret of ["acme/secret", sha256Of(tokenOf("docs"))])
      expect(JSON.stringify(body)).not.toContain(secret);
  });
});
