import { describe, expect, test } from "bun:test";
import { waitFor } from "../../support/index.ts";
import { fields, projected, service, useRegistry } from "./bed.ts";

const registry = useRegistry();

const revision = (name: string, number: number | string) =>
  registry.call("GET", `/services/${name}/revisions/${number}`);
const restore = (name: string, number: number | string, headers = {}) =>
  registry.call("POST", `/services/${name}/revisions/${number}/restore`, undefined, headers);

describe("the history of a service", () => {
  // RG-62, RG-63
  test("has every write with all details, newest first", async () => {
    await registry.call(
      "POST",
      "/apply",
      { services: { listed: service("/listed") } },
      { "X-Request-ID": "r-1" },
    );
    await registry.put("listed", service("/listed", "/listed/more"), { "X-Request-ID": "r-2" });
    await registry.call("DELETE", "/services/listed", undefined, { "X-Request-ID": "r-3" });
    await restore("listed", 1, { "X-Request-ID": "r-4" });
    const { status, body } = await registry.call("GET", "/services/listed/revisions");
    expect(status).toBe(200);
    const common = {
      service: "listed",
      operator: "admin",
      reason: null,
      link: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    };
    const rows: [action: string, restored_from: number | null, config: object | null][] = [
      ["restore", 1, service("/listed")],
      ["delete", null, null],
      ["put", null, service("/listed", "/listed/more")],
      ["apply", null, service("/listed")],
    ];
    const revisions = rows.map(([action, restored_from, config], index) => {
      const revision = rows.length - index;
      return { ...common, revision, action, restored_from, config, request_id: `r-${revision}` };
    });
    expect(body).toEqual({ revisions });
    const times = body.revisions.map((each: { created_at: string }) => each.created_at);
    expect(times).toEqual([...times].sort().reverse());
    for (const each of body.revisions) expect((await revision("listed", each.revision)).body).toEqual(each);
  });

  // RG-62, ER-24
  test("of a service that never existed is 404", async () => {
    const response = await registry.call("GET", "/services/never/revisions");
    expect(response.status).toBe(404);
    expect(response.body.error.details).toEqual({ resource: "service", id: "never" });
  });

  // RG-64
  test.each(["0", "99999999999999999999", "01", "one"])("is 404 for the revision %s", async (number) => {
    await registry.put("single", service("/single"));
    const response = await revision("single", number);
    expect(response.status).toBe(404);
    expect(response.body.error.details.resource).toBe("revision");
    expect((await restore("single", number)).status).toBe(404);
  });

  // RG-64, ER-24
  test.each([
    ["the service", "never", 1, { resource: "service", id: "never" }],
    ["the revision", "short", 9, { resource: "revision", id: "9" }],
  ])("names what does not exist: %s", async (_, name, number, missing) => {
    await registry.put("short", service("/short"));
    for (const response of [await revision(name, number), await restore(name, number)]) {
      expect([response.status, response.body.error.details]).toEqual([404, missing]);
    }
  });
});

describe("restore", () => {
  // RG-67
  test("makes an earlier config current, responds like PUT and projects the config", async () => {
    await registry.put("back", service("/back/1"));
    await registry.put("back", service("/back/2"));
    const response = await restore("back", 1);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ name: "back", revision: 3, ...service("/back/1") });
    expect(response.headers.get("etag")).toBe('"3"');
    await waitFor(async () =>
      Bun.deepEquals((await projected(registry.routeStore)).back, service("/back/1")),
    );
  });

  // RG-47, RG-67
  test("brings a deleted service back", async () => {
    await registry.put("revived", service("/revived"));
    await registry.call("DELETE", "/services/revived");
    expect((await restore("revived", 1)).body.revision).toBe(3);
    expect((await registry.call("GET", "/services/revived")).status).toBe(200);
  });

  // RG-68
  test("of a delete revision is 422 and changes nothing", async () => {
    await registry.put("tomb", service("/tomb"));
    await registry.call("DELETE", "/services/tomb");
    const response = await restore("tomb", 2);
    expect(response.status).toBe(422);
    expect(fields(response)[0]?.message).toContain("Revision 2 deleted the service");
    expect((await registry.call("GET", "/services/tomb/revisions")).body.revisions).toHaveLength(2);
  });

  // RG-67, RG-68
  test("is refused if another service now owns a route", async () => {
    await registry.put("first", service("/contested/{id}"));
    await registry.put("first", service("/uncontested"));
    await registry.put("second", service("/contested/{name}"));
    const response = await restore("first", 1);
    expect(response.status).toBe(409);
    expect(response.body.error).toMatchObject({
      code: "ROUTE_CONFLICT",
      details: {
        conflicts: [
          {
            service: "first",
            method: "GET",
            path: "/contested/{id}",
            owner: "second",
            owner_path: "/contested/{name}",
          },
        ],
      },
    });
    expect((await registry.call("GET", "/services/first")).body).toMatchObject(service("/uncontested"));
  });

  // RG-67
  test("ignores a body", async () => {
    await registry.put("with-body", service("/with-body"));
    const response = await registry.call("POST", "/services/with-body/revisions/1/restore", "{not json");
    expect(response.status).toBe(200);
  });
});
