import { beforeAll, describe, expect, test } from "bun:test";
import { services } from "../../support/stores/services.ts";
import { fields, startRegistry, useRegistry } from "./bed.ts";

const registry = useRegistry({ env: { ROLES_FILE: "seeds/roles.yaml" } });
beforeAll(async () => {
  const routes = [
    { path: "/things", methods: { GET: {}, PUT: { required_labels: ["org:write", "things:write"] } } },
  ];
  await registry.apply({
    things: {
      url: "http://things:8080",
      organization: { route_prefix: "/org", routes },
      member: { route_prefix: "/member", routes },
      user: { route_prefix: "/user", routes },
      public: { routes: [{ path: "/open", methods: ["GET"] }] },
    },
  });
});

const find = (method: string, path: string, caller: Record<string, string>, on = registry) =>
  on.call("GET", `/routes?${new URLSearchParams({ method, path, ...caller })}`);

describe("who may call a route", () => {
  // RG-75
  test.each([
    ["PUT", "/org/things", { role: "owner" }, true, ["*"]],
    ["PUT", "/member/things", { role: "admin" }, true, ["org:write", "things:write"]],
    ["PUT", "/org/things", { labels: "a,things:write,org:write" }, true, ["things:write", "org:write"]],
    ["PUT", "/org/things", { labels: "org:writer,org" }, false, ["org:write", "things:write"]],
    ["PUT", "/org/things", { labels: "*,a" }, true, ["*"]],
    ["GET", "/org/things", { labels: "a" }, true, []],
    ["GET", "/open", { labels: "a" }, true, []],
  ])("is decided by role or labels: %s %s by %j", async (method, path, caller, allowed, decided_by) => {
    const response = await find(method, path, caller);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ method, allowed, decided_by });
  });

  // RG-75
  test("is returned only if the query has a role or labels", async () => {
    expect(Object.keys((await find("PUT", "/org/things", {})).body)).not.toContain("allowed");
  });

  const refused: [caller: Record<string, string>, path: string, message: RegExp][] = [
    [{ role: "nobody" }, "role", /^role must be one of admin, .*owner/],
    [{ role: "toString" }, "role", /^role must be one of/],
    [{ role: "owner", labels: "a" }, "labels", /^Set role or labels, not both\.$/],
    [{ labels: "" }, "labels", /labels separated by commas/],
    [{ labels: "A" }, "labels", /labels separated by commas/],
    [{ labels: Array.from({ length: 65 }, (_, index) => `l${index}`).join() }, "labels", /1 to 64 labels/],
    [{ roles: "owner" }, "roles", /./],
  ];
  // RG-76
  test.each(refused)("is 422 for %j", async (caller, path, message) => {
    const response = await find("PUT", "/org/things", caller);
    expect(response.status).toBe(422);
    expect(fields(response)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  // RG-76
  test.skipIf(!services().postgres.real)(
    "is 422 for a role without a roles file, but is returned for labels",
    async () => {
      await using bare = await startRegistry({ databaseUrl: registry.databaseUrl });
      const response = await find("PUT", "/org/things", { role: "owner" }, bare);
      expect(response.status).toBe(422);
      expect(fields(response)[0]).toMatchObject({
        path: "role",
        message: expect.stringContaining("ROLES_FILE"),
      });
      expect((await find("PUT", "/org/things", { labels: "org:write" }, bare)).body.allowed).toBe(true);
    },
  );

  test("cannot be asked with an invalid roles file: the registry does not start", async () => {
    const wrong = startRegistry({ env: { ROLES_FILE: "seeds/demo.yaml" } });
    expect(await wrong.catch((error) => error.message)).toMatch(/ROLES_FILE\s+line /);
  });
});

describe("GET /roles", () => {
  // RG-106
  test("lists the roles that a route look-up accepts", async () => {
    const { status, body } = await registry.call("GET", "/roles");
    expect(status).toBe(200);
    const slugs: string[] = body.roles.map(({ slug }: { slug: string }) => slug);
    expect(slugs).toEqual(["admin", "auditor", "member", "owner", "viewer"]);
    expect(body.roles).toContainEqual({ slug: "owner", labels: ["*"] });
    for (const role of slugs) {
      expect((await find("PUT", "/org/things", { role })).status).toBe(200);
    }
  });
});
