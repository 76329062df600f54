import { describe, expect, test } from "bun:test";
import {
  SERVICE_CONFIG_BYTES_MAX,
  validateDocument,
  validateService,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";
import { validateStored } from "../../support/gateway/route-tables.ts";
import { editorAccepts } from "./editor-schema.ts";
import { pathsService, serviceWith } from "./fixtures.ts";

function violations(result: { ok: true } | { ok: false; fields: { path: string }[] }): string[] {
  return result.ok ? [] : result.fields.map((field) => field.path);
}

describe("a document", () => {
  // RG-5, RG-6
  test.each([
    ["null", null, ""],
    ["an empty object", {}, "services"],
    ["a map with a list of services", { services: [] }, "services"],
    ["a map without services", { services: {} }, "services"],
    ["a map with an unknown field", { services: { a: pathsService("/") }, version: 1 }, "version"],
    ["a map with null for a service", { services: { a: null } }, "services.a"],
  ])("is refused if it is %s", (_, input, path) => {
    expect(violations(validateDocument(input))).toEqual([path]);
    expect(editorAccepts(input)).toBe(false);
  });

  // RG-42
  test("is refused with all violations at once, each with its path", () => {
    const document = {
      services: {
        widgets: {
          url: "https://widgets:1",
          organization: {
            routes: [
              { path: "/ok", methods: ["GET"] },
              { path: "/Bad/", upstream: "/{x}", methods: ["get"], audit: 1, extra: 1 },
              "nothing",
              { path: "/w/{id}", methods: { GET: { rate_limit: "nope", required_labels: ["*"] } } },
            ],
          },
        },
        "no good": { public: 1 },
      },
    };
    const routes = "services.widgets.organization.routes";
    expect(violations(validateDocument(document)).toSorted()).toEqual(
      [
        "services.widgets.url",
        `${routes}[1].path`,
        `${routes}[1].upstream`,
        `${routes}[1].methods[0]`,
        `${routes}[1].audit`,
        `${routes}[1].extra`,
        `${routes}[2]`,
        `${routes}[3].methods.GET.rate_limit`,
        `${routes}[3].methods.GET.required_labels[0]`,
        "services.no good",
        "services.no good.url",
        "services.no good.public",
      ].toSorted(),
    );
  });

  test("of one service, as in PUT, is refused with paths that start with the fields of the service", () => {
    expect(violations(validateService("a", { url: "x", user: { routes: [{}] } }))).toEqual([
      "url",
      "user.routes[0].path",
      "user.routes[0].methods",
    ]);
    expect(violations(validateService("a", { url: "x", user: { routes: [] } }, "config"))).toEqual([
      "config.url",
    ]);
  });
});

// RG-41
describe("the size of one service", () => {
  const routesOf = (bytes: number) => {
    const count = Math.ceil(bytes / 200);
    return Array.from({ length: count }, (_, index) => ({
      path: `/${String(index).padStart(9, "0")}${"x".repeat(150)}`,
      methods: ["GET"],
    }));
  };

  test("has a maximum, and the message says to split the service", () => {
    const large = serviceWith("user", routesOf(SERVICE_CONFIG_BYTES_MAX * 1.1));
    expect(validateDocument({ services: { large, small: pathsService("/") } })).toEqual({
      ok: false,
      fields: [
        { path: "services.large", message: expect.stringMatching(/1048576 bytes.*split the service/) },
      ],
    });
    const fine = serviceWith("user", routesOf(SERVICE_CONFIG_BYTES_MAX * 0.9));
    expect(validateService("fine", fine).ok).toBe(true);
  });

  test("has a maximum of 16 MiB for all services of a document together", () => {
    const large = serviceWith("user", routesOf(SERVICE_CONFIG_BYTES_MAX * 0.9));
    const services = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, large]));
    expect(validateDocument({ services: services(16) }).ok).toBe(true);
    expect(validateDocument({ services: services(20) })).toEqual({
      ok: false,
      fields: [{ path: "services", message: expect.stringMatching(/16777216 bytes/) }],
    });
  });

  test("does not prevent a gateway from loading a stored service", () => {
    const large = serviceWith("user", routesOf(SERVICE_CONFIG_BYTES_MAX * 1.1));
    expect(validateStored("large", large).ok).toBe(true);
  });
});

describe("a stored service", () => {
  test("is checked in one step for each route, so that large services do not block the event loop", () => {
    const paths = Array.from({ length: 4_000 }, (_, index) => `/r/${index}`);
    const steps = [...validateStoredInSteps("a", pathsService(...paths))];
    expect(steps.length).toBeGreaterThan(paths.length);
    const invalid = [...validateStoredInSteps("a", pathsService(...paths, "/{x}/{x}"))];
    expect(invalid.length).toBeGreaterThan(paths.length);
  });

  const withUrl = (url: string) => validateStored("a", { ...pathsService("/"), url });

  // GW-24
  test.each(["widgets:8080", "http://widgets:8080"])("may have the url %s", (url) => {
    const result = withUrl(url);
    expect(result.ok && result.service.url).toBe("http://widgets:8080");
  });

  test.each([
    ["a prefix", { url: "http://a:1", user: { route_prefix: "/a", routes: [] } }, "user.route_prefix"],
    [
      "a map of methods",
      serviceWith("user", [{ path: "/a", methods: { GET: {} } }]),
      "user.routes[0].methods",
    ],
    ["a path that is not canonical", pathsService("/A"), "public.routes[0].path"],
    [
      "an unknown policy",
      serviceWith("user", [{ path: "/a", methods: ["GET"], rate_limit: "x" }]),
      "user.routes[0].rate_limit",
    ],
    ["a wrong type", 7, ""],
  ])("is refused with %s", (_, value, path) => {
    expect(violations(validateStored("a", value))).toEqual([path]);
  });
});
