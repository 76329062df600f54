/** Tests of the preview of changes: the marks `opens` and `breaks`, the output formats, and `--fail-on`. */
import { beforeAll, describe, expect, test } from "bun:test";
import { useCli } from "./bed.ts";

const { registry, cli, file } = useCli();

const LIMIT = { requests: 100, window_seconds: 60 };
const route = (path: string, more: object = {}) => ({ path, methods: ["PUT"], ...more });

const before = {
  url: "http://a:1",
  rate_limits: { burst: LIMIT },
  organization: {
    routes: [
      route("/org/things/{id}", { required_labels: ["things:write"], rate_limit: "burst" }),
      route("/org/gone", { rate_limit: false }),
      route("/org/moved"),
    ],
  },
};
const after = {
  url: "http://a:2",
  openapi: "/openapi.json",
  rate_limits: { burst: LIMIT },
  public: { routes: [route("/org/moved")] },
  organization: { routes: [route("/org/things/{id}", { rate_limit: { ...LIMIT, requests: 200 } })] },
};

let same = "";
let changed = "";
let opening = "";
let harmless = "";
beforeAll(async () => {
  await registry.apply({ things: before, still: { url: "http://b:1", user: { routes: [] } } });
  const written = (name: string, services: object) => file(`${name}.json`, JSON.stringify({ services }));
  same = await written("same", { things: before });
  changed = await written("changed", {
    things: after,
    still: { url: "http://b:1", user: { routes: [] } },
    fresh: { url: "http://c:1", user: { routes: [route("/fresh", { upstream: "/f", audit: false })] } },
  });
  const [first, ...others] = before.organization.routes;
  const open = { ...before, organization: { routes: [{ ...first, audit: false }, ...others] } };
  opening = await written("opening", { things: open });
  harmless = await written("harmless", { things: { ...before, url: "http://a:3" } });
});

describe("the preview as text", () => {
  test("lists changes below their service, and marks below their change", async () => {
    const run = await cli(["diff", changed]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toBe(`things: changed, current revision 1
~ url: http://a:1 -> http://a:2
+ openapi: /openapi.json
+ PUT /org/moved (public)
    opens: anyone may call the route without a credential
    opens: its requests are no longer audited
~ PUT /org/things/{id} (organization)
    required labels: things:write -> none
    rate limit: burst -> 200 in 60 s
    opens: members no longer need the label things:write
    opens: the route's limit changes from burst to 200 in 60 s
    breaks: the route's limit changes from burst to 200 in 60 s
- PUT /org/gone (organization), rate limit unlimited
    breaks: the route is gone
- PUT /org/moved (organization)
still: unchanged, current revision 1
fresh: created
+ url: http://c:1
+ PUT /fresh (user), upstream /f, audit no
8 changes: 2 open a route, 2 break callers.
`);
    expect((await cli(["apply", "--dry-run", changed])).stdout).toBe(run.stdout);
  });
});

describe("the preview as JSON", () => {
  test("is the registry's response with the marks of each change, and the number of marks", async () => {
    const run = await cli(["diff", changed, "--json"]);
    const { results, opens, breaks } = JSON.parse(run.stdout);
    expect({ opens, breaks }).toEqual({ opens: 2, breaks: 2 });
    const response = await registry.call("POST", "/apply?dry_run=true", await Bun.file(changed).json());
    const withoutMarks = results.map(({ changes, ...result }: { changes: Record<string, unknown>[] }) => ({
      ...result,
      changes: changes.map(({ marks: _, ...change }) => change),
    }));
    expect(withoutMarks).toEqual(response.body.results);
    expect(results[0].changes[2].marks).toContainEqual({
      effect: "opens",
      reason: "anyone may call the route without a credential",
    });
    expect((await cli(["diff", changed, "--output", "json"])).stdout).toBe(run.stdout);
  });
});

describe("the preview as Markdown", () => {
  test("has a table for each changed service, with marked changes first", async () => {
    const { stdout } = await cli(["diff", changed, "--output=markdown"]);
    expect(stdout).toStartWith("### Route changes\n\n8 changes: 2 open a route, 2 break callers.\n");
    expect(stdout).toContain("**<code>things</code>**, changed, current revision 1\n");
    expect(stdout).toContain(
      "| removed | PUT <code>/org/gone</code> | organization | rate limit: <code>unlimited</code> | **breaks**: the route is gone |\n",
    );
    expect(stdout.indexOf("/org/gone")).toBeLessThan(stdout.indexOf("http://a:2"));
    expect(stdout).not.toContain("still");
  });
});

describe("--fail-on", () => {
  test.each([
    ["opens", () => opening, 3],
    ["breaks", () => opening, 0],
    ["opens,breaks", () => harmless, 0],
  ])("exits with 3 only for a preview with one of these marks: %s", async (effects, document, exitCode) => {
    const plain = await cli(["diff", document()]);
    for (const command of [["diff"], ["apply", "--dry-run"]]) {
      const run = await cli([...command, document(), `--fail-on=${effects}`]);
      // The preview is the same as without --fail-on. Only the exit code differs.
      expect(run).toEqual({ ...plain, exitCode });
    }
  });

  test("checks changes between revisions too", async () => {
    await registry.put("history", { url: "http://a:1", user: { routes: [route("/history")] } });
    await registry.put("history", { url: "http://a:1", public: { routes: [route("/history")] } });
    expect((await cli(["diff", "history", "--fail-on=opens"])).exitCode).toBe(3);
    expect((await cli(["diff", "history", "2", "1", "--fail-on=opens"])).exitCode).toBe(0);
    expect((await cli(["diff", "history", "2", "1", "--fail-on=breaks"])).exitCode).toBe(3);
    expect((await cli(["diff", "history", "2", "2", "--fail-on=opens"])).exitCode).toBe(0);
  });

  test.each(["", "opens,", "OPENS"])("%j is wrong usage", async (effects) => {
    const run = await cli(["diff", same, `--fail-on=${effects}`]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain("opens, breaks, or opens,breaks");
  });
});

test.each([
  [["apply", "--fail-on=opens"], "add --dry-run"],
  [["diff", "--json", "--output=text"], "cannot be given together"],
])("%j is wrong usage, and nothing is written", async (parameters, message) => {
  const run = await cli([...parameters, opening]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toContain(message);
  expect((await registry.call("GET", "/services/things")).body.revision).toBe(1);
});
