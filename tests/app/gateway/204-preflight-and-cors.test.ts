/** Tests CORS: responses and preflights for browsers on other origins (GW-106 to GW-110). */
import { beforeAll, describe, expect, test } from "bun:test";
import type { LocalGateway } from "../../support/gateway/gateway.ts";
import { type Lines, UUID_V7, WidgetsBed } from "../../support/gateway/widgets-bed.ts";
import { headerValue, headerValues, rawRequest, spell } from "../../support/http/raw-http.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new WidgetsBed());
const { service, gateway } = bed;

const responseHeaders = (lines: Lines, through = gateway, request: Lines = []) =>
  bed.responseHeaders(lines, through, request);

describe("CORS without ALLOWED_ORIGINS", () => {
  // GW-108, GW-110
  test("every origin may read a response, and its headers", async () => {
    const headers = await responseHeaders([], gateway, [["Origin", "https://anyone.example"]]);
    expect(headerValue(headers, "access-control-allow-origin")).toBe("*");
    expect(headerValue(headers, "access-control-expose-headers")).toBe(
      "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After",
    );
    expect(headerValues(headers, "vary")).toEqual([]);
  });

  // GW-110
  test("CORS headers of a service are replaced", async () => {
    const headers = await responseHeaders([
      ["Access-Control-Allow-Origin", "https://service.example"],
      ["Access-Control-Allow-Credentials", "true"],
      ["Access-Control-Allow-Methods", "PURGE"],
      ["Access-Control-Allow-Headers", "X-Z"],
      ["Access-Control-Expose-Headers", "X-Z"],
      ["Access-Control-Max-Age", "1"],
    ]);
    const cors = headers
      .filter(([name]) => /^access-control/i.test(name))
      .map(([name]) => name.toLowerCase());
    expect(cors.sort()).toEqual(["access-control-allow-origin", "access-control-expose-headers"]);
    expect(headerValue(headers, "access-control-allow-origin")).toBe("*");
  });

  // GW-106, GW-107
  test("OPTIONS on any path, published or not, is a preflight that reaches no service", async () => {
    for (const path of ["/widgets", "/nowhere", "/broken/%zz", "/"]) {
      const response = await rawRequest(gateway.url, spell("OPTIONS", path));
      expect(response.status).toBe(204);
      expect(response.body.byteLength).toBe(0);
      expect(headerValue(response.headers, "access-control-allow-origin")).toBe("*");
      expect(headerValue(response.headers, "access-control-allow-methods")).toBe(
        "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
      );
      expect(headerValue(response.headers, "access-control-allow-headers")).toBe(
        "Authorization, Content-Type, X-API-Key",
      );
      expect(headerValue(response.headers, "access-control-max-age")).toBe("86400");
      expect(headerValue(response.headers, "x-request-id")).toMatch(UUID_V7);
    }
    expect(service.requests).toEqual([]);
  });

  // GW-107
  test("a preflight allows the requested headers", async () => {
    const request = spell("OPTIONS", "/widgets", { "Access-Control-Request-Headers": "x-one, X-Two" });
    const response = await rawRequest(gateway.url, request);
    expect(headerValue(response.headers, "access-control-allow-headers")).toBe("x-one, X-Two");
  });
});

describe("CORS with ALLOWED_ORIGINS", () => {
  let listed: LocalGateway;
  beforeAll(async () => {
    listed = await bed.start({ ALLOWED_ORIGINS: "https://a.example, https://b.example:8443" });
  });

  // GW-109
  test("a listed origin is reflected, with Vary for caches", async () => {
    for (const origin of ["https://a.example", "https://b.example:8443"]) {
      const headers = await responseHeaders([["Vary", "Accept"]], listed, [["Origin", origin]]);
      expect(headerValue(headers, "access-control-allow-origin")).toBe(origin);
      expect(headerValues(headers, "vary").join(", ")).toBe("Accept, Origin");
    }
  });

  for (const origin of [
    "https://c.example",
    "http://a.example",
    "https://a.example.evil",
    "null",
    "https://A.example",
  ]) {
    // GW-109
    test(`${origin} gets no allow header, neither for a response nor for a preflight`, async () => {
      const headers = await responseHeaders([], listed, [["Origin", origin]]);
      expect(headers.filter(([name]) => /^access-control/i.test(name))).toEqual([]);
      expect(headerValue(headers, "vary")).toBe("Origin");
      const preflight = await rawRequest(listed.url, spell("OPTIONS", "/widgets", { Origin: origin }));
      expect(preflight.status).toBe(204);
      expect(preflight.headers.filter(([name]) => /^access-control-allow/i.test(name))).toEqual([]);
    });
  }

  // GW-105, GW-109
  test("a Vary that already names Origin stays unchanged", async () => {
    const headers = await responseHeaders([["Vary", "origin"]], listed, [["Origin", "https://a.example"]]);
    expect(headerValues(headers, "vary")).toEqual(["origin"]);
  });
});
