import { describe, expect, test } from "bun:test";
import { documentSchemaText } from "../../../apps/registry/document-schema/document-schema.ts";
import { waitFor } from "../../support/index.ts";
import { fields, projected, service, useRegistry } from "./bed.ts";

const registry = useRegistry();

const widgets = {
  url: "http://widgets:8080",
  rate_limits: { burst: { requests: 5, window_seconds: 1 } },
  organization: {
    route_prefix: "/org",
    routes: [
      {
        path: "/widgets/{widget_id}",
        upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
        methods: { GET: null, DELETE: { required_labels: ["widgets:write"], rate_limit: "burst" } },
      },
    ],
  },
};

const widgetsExpanded = {
  url: "http://widgets:8080",
  rate_limits: { burst: { requests: 5, window_seconds: 1 } },
  organization: {
    routes: [
      {
        path: "/org/widgets/{widget_id}",
        upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
        methods: ["GET"],
      },
      {
        path: "/org/widgets/{widget_id}",
        upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
        methods: ["DELETE"],
        required_labels: ["widgets:write"],
        rate_limit: "burst",
      },
    ],
  },
};

describe("apply", () => {
  // RG-43, RG-48
  test("creates services with revision 1, and returns them in the document's order", async () => {
    const response = await registry.apply({ zebra: service("/zebra"), ant: service("/ant") });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      results: [
        { service: "zebra", status: "upserted", revision: 1 },
        { service: "ant", status: "upserted", revision: 1 },
      ],
    });
  });

  // RG-49, RG-77
  test("stores, returns and projects the stored form", async () => {
    await registry.apply({ widgets });
    const { body } = await registry.call("GET", "/services/widgets");
    expect(body).toMatchObject({ name: "widgets", ...widgetsExpanded });
    await waitFor(async () =>
      Bun.deepEquals((await projected(registry.routeStore)).widgets, widgetsExpanded),
    );
  });

  // RG-43
  test("does not change services that the document does not name", async () => {
    await registry.apply({ bystander: service("/bystander") });
    const before = await registry.call("GET", "/services/bystander");
    await registry.apply({ newcomer: service("/newcomer") });
    expect((await registry.call("GET", "/services/bystander")).body).toEqual(before.body);
  });

  // RG-59
  test("accepts the response of GET /services, which changes nothing", async () => {
    await registry.apply({ widgets });
    const all = await registry.call("GET", "/services");
    expect((await registry.call("POST", "/apply", all.body)).status).toBe(200);
    expect((await registry.call("GET", "/services")).body).toEqual(all.body);
  });

  // RG-44
  test("writes nothing if one of its services is refused", async () => {
    const response = await registry.apply({
      fine: service("/fine"),
      broken: { url: "https://a:1", user: {} },
    });
    expect(response.status).toBe(422);
    expect((await registry.call("GET", "/services/fine")).status).toBe(404);
    expect((await registry.call("GET", "/services/fine/revisions")).status).toBe(404);
  });

  // RG-3
  test.each([["dry_run=yes"], ["dry_run="], ["dry_run=true&dry_run=true"], ["dryrun=true"]])(
    "refuses the query %s",
    async (query) => {
      const response = await registry.call("POST", `/apply?${query}`, { services: { q: service("/q") } });
      expect(response.status).toBe(422);
      expect(response.body.error.code).toBe("VALIDATION_ERROR");
      expect((await registry.call("GET", "/services/q")).status).toBe(404);
    },
  );
});

describe("PUT", () => {
  // RG-45, RG-61
  test("creates a service and returns its name and revision", async () => {
    const response = await registry.put("put-new", service("/put-new"));
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ name: "put-new", revision: 1, ...service("/put-new") });
    expect(response.headers.get("etag")).toBe('"1"');
    const seen = await registry.call("GET", "/services/put-new");
    expect(seen.body).toEqual(response.body);
    expect(seen.headers.get("etag")).toBe('"1"');
  });

  // RG-45
  test("replaces the whole service", async () => {
    await registry.put("put-again", service("/put-again", "/put-again/old"));
    const response = await registry.put("put-again", service("/put-again"));
    expect(response.body).toEqual({ name: "put-again", revision: 2, ...service("/put-again") });
  });

  // RG-45
  test("runs the checks of apply, with paths relative to the body", async () => {
    const response = await registry.put("put-bad", {
      ...service("/put-bad"),
      url: "widgets:8080",
      colour: 1,
    });
    expect(response.status).toBe(422);
    expect(
      fields(response)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(["colour", "url"]);
    expect((await registry.call("GET", "/services/put-bad")).status).toBe(404);
  });

  // RG-35
  test.each([
    ["application/yaml", "url: http://a:1"],
    ["text/plain", "{}"],
    ["application/json", "null"],
  ])("refuses a body of type %s: %s", async (type, body) => {
    const response = await registry.call("PUT", "/services/put-type", body, { "Content-Type": type });
    expect(response.status).toBe(422);
    expect(response.body.error.code).toBe("VALIDATION_ERROR");
  });
});

describe("DELETE", () => {
  // RG-46, RG-77
  test("returns 204, unpublishes the service and keeps its revisions", async () => {
    await registry.put("gone", service("/gone"));
    await waitFor(async () => "gone" in (await projected(registry.routeStore)));
    const response = await registry.call("DELETE", "/services/gone");
    expect(response.status).toBe(204);
    expect(response.body).toBe("");
    expect((await registry.call("GET", "/services/gone")).status).toBe(404);
    expect((await registry.call("GET", "/services")).body.services).not.toHaveProperty("gone");
    await waitFor(async () => !("gone" in (await projected(registry.routeStore))));
    const { body } = await registry.call("GET", "/services/gone/revisions");
    expect(
      body.revisions.map(({ action, config }: Record<string, unknown>) => [action, config === null]),
    ).toEqual([
      ["delete", true],
      ["put", false],
    ]);
  });

  // RG-46, RG-61
  test("returns 404 for a deleted or unknown service", async () => {
    await registry.put("gone-twice", service("/gone-twice"));
    await registry.call("DELETE", "/services/gone-twice");
    for (const name of ["gone-twice", "never-was", "not%20a%20name"]) {
      const response = await registry.call("DELETE", `/services/${name}`);
      expect(response.status).toBe(404);
      expect(response.body.error).toMatchObject({
        code: "NOT_FOUND",
        details: { resource: "service", id: decodeURIComponent(name) },
      });
    }
  });
});

describe("every response", () => {
  // RG-4, ER-5
  test("has an X-Request-ID header, with the caller's value if it is valid", async () => {
    const given = await registry.call("GET", "/services", undefined, { "X-Request-ID": "mine-1" });
    expect(given.headers.get("x-request-id")).toBe("mine-1");
    const own = await registry.call("GET", "/services/unknown");
    expect(own.headers.get("x-request-id")).toBe(own.body.error.request_id);
  });

  // RG-61
  test.each(["a%00b", "a%2Fb", "x".repeat(129)])(
    "for the invalid service name %s is 404, or 422 for PUT",
    async (name) => {
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["GET", "/revisions"],
        ["GET", "/revisions/1"],
        ["GET", "/revisions/1/diff/2"],
        ["POST", "/revisions/1/restore"],
      ] as const) {
        const response = await registry.call(method, `/services/${name}${path}`);
        expect([method, path, response.status]).toEqual([method, path, 404]);
        expect(response.body.error.details).toEqual({ resource: "service", id: decodeURIComponent(name) });
      }
      expect((await registry.call("PUT", `/services/${name}`, service("/unnamed"))).status).toBe(422);
    },
  );

  // ER-11
  test("to HEAD has the headers of GET and no body", async () => {
    const response = await registry.call("HEAD", "/services");
    expect([response.status, response.body]).toEqual([200, ""]);
  });

  // ER-10
  test("is 404 for an unknown path, and 405 with Allow for another method", async () => {
    expect((await registry.call("GET", "/nowhere")).body.error.code).toBe("NOT_FOUND");
    const response = await registry.call("PATCH", "/services/a");
    expect(response.status).toBe(405);
    expect(response.body.error.code).toBe("METHOD_NOT_ALLOWED");
    expect(response.headers.get("allow")?.split(", ").sort()).toEqual(["DELETE", "GET", "HEAD", "PUT"]);
  });
});

// RG-3, RG-69
describe("an unknown query parameter", () => {
  test("is refused, so that nobody mistakes a write for a dry run", async () => {
    await registry.put("kept", service("/kept"));
    const requests = [
      ["GET", "/services?limit=1"],
      ["GET", "/services/kept?x=1"],
      ["PUT", "/services/kept?dry_run=true"],
      ["DELETE", "/services/kept?dry_run=true"],
      ["POST", "/services/kept/revisions/1/restore?dry_run=true"],
      ["GET", "/services/kept/revisions?limit=1"],
    ] as const;
    for (const [method, path] of requests) {
      const response = await registry.call(method, path, method === "PUT" ? service("/kept") : undefined);
      expect([path, response.status]).toEqual([path, 422]);
    }
    expect((await registry.call("GET", "/services/kept/revisions")).body.revisions).toHaveLength(1);
  });
});

// RG-91
test("GET /schema/routes.json returns the document schema without a token", async () => {
  const response = await fetch(`${registry.url}/schema/routes.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/schema+json");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(await response.text()).toBe(documentSchemaText());
});
