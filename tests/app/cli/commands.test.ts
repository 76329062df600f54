import { describe, expect, test } from "bun:test";
import { service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const { registry, cli, file } = useCli();

/** Returns a YAML document with one service that has a user route for each path. */
function yaml(name: string, ...paths: string[]): string {
  const routes = paths.map((path) => `        - {path: "${path}", methods: [GET]}`);
  return `services:\n  ${name}:\n    url: http://upstream:8080\n    user:\n      routes:\n${routes.join("\n")}\n`;
}

/** Returns the cells of each line of a printed table. */
function cells(text: string): string[][] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
}

describe("apply", () => {
  test("publishes a YAML file", async () => {
    const run = await cli(["apply", await file("a.yaml", yaml("from-yaml", "/from-yaml"))]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(cells(run.stdout)).toEqual([
      ["SERVICE", "STATUS", "REVISION"],
      ["from-yaml", "upserted", "1"],
    ]);
    expect((await registry.call("GET", "/services/from-yaml")).body).toMatchObject(service("/from-yaml"));
  });

  test("lists every violation of a refused document and exits with 1", async () => {
    const path = await file("bad.yaml", yaml("bad name", "/Upper/").replace("http:", "https:"));
    const run = await cli(["apply", path]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    const lines = run.stderr.trimEnd().split("\n");
    expect(lines[0]).toBe("Refused, nothing was written:");
    for (const part of ["", ".url", ".user.routes[0].path"]) {
      expect(lines.some((line) => line.trim().startsWith(`services.bad name${part}:`))).toBe(true);
    }
  });

  test("names the service that already owns a route of the document", async () => {
    await registry.put("holder", service("/held/{id}"));
    const run = await cli(["apply", "-"], { input: yaml("thief", "/held/{x}") });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Refused, nothing was written:\n  GET /held/{x} of thief belongs to holder, as /held/{id}\n",
    });
    const dry = await cli(["apply", "--dry-run", "-"], { input: yaml("thief", "/held/{x}") });
    expect(dry.stderr).toBe("Refused:\n  GET /held/{x} of thief belongs to holder, as /held/{id}\n");
  });
});

describe("diff", () => {
  test("shows what a file would change, and what differs between two revisions", async () => {
    await registry.put("d", service("/d/1"));
    await registry.put("d", service("/d/2"));
    await registry.put("d", { ...service("/d/2"), url: "http://upstream:9090" });
    const newest = await cli(["diff", "d"]);
    expect(newest.stdout).toBe(
      "d: revision 2 to 3\n~ url: http://upstream:8080 -> http://upstream:9090\n1 change: no change opens a route or breaks callers.\n",
    );
    const first =
      "d: revision 1 to 2\n+ GET /d/2 (user)\n- GET /d/1 (user)\n    breaks: the route is gone\n2 changes: 1 breaks callers.\n";
    expect((await cli(["diff", "d", "1", "2"])).stdout).toBe(first);
    expect((await cli(["diff", "d", "2"])).stdout).toBe(newest.stdout);
    expect((await cli(["diff", "d", "2", "2"])).stdout).toBe("d: revision 2 to 2\nNo changes.\n");
    const path = await file("d.yaml", yaml("d", "/d/3"));
    expect((await cli(["diff", path])).stdout).toStartWith("d: changed, current revision 3\n");
    expect((await cli(["diff", "-"], { input: yaml("e", "/e") })).stdout).toStartWith("e: created\n");
    const json = await cli(["diff", "d", "1", "2", "--json"]);
    const { changes } = (await registry.call("GET", "/services/d/revisions/1/diff/2")).body;
    expect(JSON.parse(json.stdout)).toEqual({
      changes: [
        { ...changes[0], marks: [] },
        { ...changes[1], marks: [{ effect: "breaks", reason: "the route is gone" }] },
      ],
      opens: 0,
      breaks: 1,
    });
  });

  test("exits with 2 for a service with only one revision, or a malformed revision", async () => {
    await registry.put("single", service("/single"));
    const single = await cli(["diff", "single"]);
    expect(single).toMatchObject({ exitCode: 2, stdout: "" });
    expect(single.stderr).toContain("one revision only");
    for (const wrong of [["one"], ["1..2"], ["1", "x"]]) {
      expect((await cli(["diff", "single", ...wrong])).exitCode).toBe(2);
    }
    expect((await cli(["diff", "single", "1", "2"])).exitCode).toBe(1);
  });
});

describe("services and revisions", () => {
  test("are listed in columns", async () => {
    await registry.put("listed", {
      url: "http://upstream:8080",
      member: {
        routes: [
          { path: "/listed", methods: ["GET", "POST"], required_labels: ["a:b", "c"], rate_limit: false },
          {
            path: "/listed/{id}",
            methods: ["GET"],
            rate_limit: { requests: 5, window_seconds: 60 },
            audit: true,
          },
        ],
      },
    });
    await registry.call("DELETE", "/services/listed");
    await registry.call("POST", "/services/listed/revisions/1/restore", undefined, {
      "X-Request-ID": "third",
    });
    const services = await cli(["services"]);
    expect(cells(services.stdout)).toContainEqual(["listed", "http://upstream:8080", "member", "3"]);
    const routes = await cli(["services", "listed"]);
    expect(routes.stdout).toStartWith("listed, revision 3, at http://upstream:8080\n");
    expect(cells(routes.stdout).slice(2)).toEqual([
      ["GET, POST", "/listed", "member", "a:b, c", "unlimited"],
      ["GET", "/listed/{id}", "member", "5 in 60 s", "true"],
    ]);
    const revisions = cells((await cli(["revisions", "listed"])).stdout);
    expect(revisions.map(([revision, action]) => [revision, action])).toEqual([
      ["REVISION", "ACTION"],
      ["3", "restore of 1"],
      ["2", "delete"],
      ["1", "put"],
    ]);
    expect(revisions[1]?.[3]).toBe("third");
  });

  test("exit with 1 for an unknown service, and print the error response with --json", async () => {
    const run = await cli(["services", "unknown"]);
    expect(run).toEqual({ exitCode: 1, stdout: "", stderr: "There is no service unknown.\n" });
    const json = await cli(["revisions", "unknown", "--json"]);
    expect(json).toMatchObject({ exitCode: 1, stdout: "" });
    expect(JSON.parse(json.stderr).error.code).toBe("NOT_FOUND");
  });
});

describe("restore", () => {
  test("restores an earlier revision, but not if --if-revision differs from the current revision", async () => {
    await registry.put("r", service("/r/1"));
    await registry.put("r", service("/r/2"));
    const stale = await cli(["restore", "r", "1", "--if-revision", "1"]);
    expect(stale).toMatchObject({ exitCode: 1, stdout: "" });
    expect(stale.stderr).toContain("Its current revision is 2.");
    const run = await cli(["restore", "r", "1", "--if-revision", "2"]);
    expect(run).toEqual({
      exitCode: 0,
      stdout: "Revision 3 of r restores revision 1.\n",
      stderr: "",
    });
    const json = await cli(["restore", "r", "2", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual((await registry.call("GET", "/services/r")).body);
  });
});

describe("explain", () => {
  test("shows the route that would serve a request", async () => {
    await registry.put("explained", {
      url: "http://a:1",
      organization: {
        routes: [
          {
            path: "/explained/{id}",
            methods: ["DELETE"],
            required_labels: ["admin"],
            rate_limit: { requests: 5, window_seconds: 60 },
            upstream: "/{subject.organization_id}/{path.id}",
            timeout_ms: 90_000,
          },
        ],
      },
    });
    const run = await cli(["explain", "DELETE", "/explained/42?x=1"]);
    expect(run.exitCode).toBe(0);
    expect(cells(run.stdout)).toEqual([
      ["DELETE /explained/{id} of explained serves this request."],
      ["SETTING", "VALUE"],
      ["scope", "organization"],
      ["params", "id = 42"],
      ["required labels", "admin"],
      ["rate limit", "5 in 60 s"],
      ["audit", "yes"],
      ["timeout", "90000 ms"],
      ["largest body", "the gateway's default"],
      ["upstream", "/{subject.organization_id}/{path.id}"],
    ]);
    const missing = await cli(["explain", "GET", "/explained/42"]);
    expect(missing).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "No route serves GET /explained/42.\nThe nearest routes:\n  DELETE /explained/{id} (explained, organization)\n",
    });
  });

  test("says whether a caller may send the request, and why", async () => {
    await registry.put("asked", {
      url: "http://a:1",
      organization: {
        routes: [{ path: "/asked", methods: { GET: {}, PUT: { required_labels: ["a", "b"] } } }],
      },
      user: { routes: [{ path: "/asked/user", methods: ["GET"], required_labels: ["a"] }] },
      public: { routes: [{ path: "/asked/public", methods: ["GET"] }] },
    });
    for (const [method, path, labels, verdict] of [
      ["PUT", "/asked", "b,c", "A member with b,c may use the route because of b."],
      ["PUT", "/asked", "c", "A member with c may not use the route, which requires a or b."],
      [
        "GET",
        "/asked",
        "c",
        "A member with c may use the route, as every member may: it requires no labels.",
      ],
      ["GET", "/asked/user", "c", "Every user may use the route"],
      ["GET", "/asked/public", "c", "Everybody may use the route"],
    ] as const) {
      const { exitCode, stdout } = await cli(["explain", method, path, "--labels", labels]);
      expect(exitCode).toBe(0);
      expect(stdout.split("\n").at(-2)).toStartWith(verdict);
    }
  });

  test("exits with 1 for an unknown role, and with 2 for --role together with --labels", async () => {
    const unknown = await cli(["explain", "PUT", "/asked", "--role", "owner"]);
    expect(unknown).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Refused:\n  role: This registry has no roles: set its ROLES_FILE, or set labels instead.\n",
    });
    const wrong = await cli(["explain", "PUT", "/asked", "--labels", "A B"]);
    expect(wrong).toMatchObject({ exitCode: 1, stdout: "" });
    expect(wrong.stderr).toStartWith("Refused:\n  labels must be 1 to 64 labels separated by commas");
    const both = await cli(["explain", "PUT", "/asked", "--role", "owner", "--labels", "a"]);
    expect(both).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test.each([
    ["GET", ""],
    ["GET", "https://"],
    ["GET", "https://api.example.com:99999/x"],
  ])("%s %s is wrong usage", async (method, path) => {
    const run = await cli(["explain", method, path]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  });
});
