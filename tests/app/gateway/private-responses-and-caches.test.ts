/** Tests the cache headers of responses that depend on a credential (GW-104, GW-105). */
import { describe, expect, test } from "bun:test";
import { READER, StepsBed, services, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import type { Lines } from "../../support/gateway/widgets-bed.ts";
import { headerValues, type RawResponse, rawRequest, spell } from "../../support/http/raw-http.ts";
import { useBed, useGateway } from "./bed.ts";

const bed = useBed(new StepsBed());
const listed = useGateway({ ...bed.env, ALLOWED_ORIGINS: "https://a.example" }, () =>
  services(bed.service.url),
);

const NOT_KEPT = { cacheControl: ["no-store"], vary: ["Authorization, X-API-Key"] };

function cacheHeaders({ headers }: RawResponse) {
  return { cacheControl: headerValues(headers, "cache-control"), vary: headerValues(headers, "vary") };
}

function respondWith(lines: Lines, status = "200 OK"): void {
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const body = /^(204|304)/.test(status) ? "\r\n" : "Content-Length: 2\r\n\r\nok";
  bed.service.handler = () => `HTTP/1.1 ${status}\r\n${head}${body}`;
}

const get = (path: string, credential: string | null) => bed.call("GET", path, credential);

describe("a service's response", () => {
  // GW-104
  test.each([
    ["user", "/user/things/1", USER],
    ["organization", "/org/things", WRITER],
    ["member", "/member/things", WRITER],
  ])(
    "without cache headers gets no-store and varies by credential in %s scope",
    async (_, path, credential) => {
      for (const status of [
        "201 Created",
        "204 No Content",
        "304 Not Modified",
        "500 Internal Server Error",
      ]) {
        respondWith([], status);
        const response = await get(path, credential);
        expect(response.status).toBe(Number.parseInt(status, 10));
        expect(cacheHeaders(response)).toEqual(NOT_KEPT);
      }
    },
  );

  // GW-105
  test("passes unchanged on a public route", async () => {
    respondWith([]);
    expect(cacheHeaders(await get("/public", WRITER))).toEqual({ cacheControl: [], vary: [] });
    respondWith([
      ["Cache-Control", "max-age=1"],
      ["Vary", "Accept"],
    ]);
    expect(cacheHeaders(await get("/public", null))).toEqual({
      cacheControl: ["max-age=1"],
      vary: ["Accept"],
    });
  });

  // GW-104, GW-105
  test.each([
    ["Accept", "Accept, Authorization, X-API-Key"],
    ["x-api-key , AUTHORIZATION", "x-api-key , AUTHORIZATION"],
    ["Accept, *", "Accept, *"],
  ])("with Vary %j keeps its Cache-Control, and is sent with one Vary", async (sent, vary) => {
    respondWith([
      ["Cache-Control", "private, max-age=60"],
      ["Vary", sent],
    ]);
    expect(cacheHeaders(await get("/org/things", WRITER))).toEqual({
      cacheControl: ["private, max-age=60"],
      vary: [vary],
    });
  });
});

// GW-104
test.each<[status: number, path: string, credential: string | null]>([
  [401, "/org/things", null],
  [403, "/org/limited", READER],
  [502, "/dead", WRITER],
])(
  "a %i of the gateway on a route that requires a credential has no-store",
  async (status, path, credential) => {
    const response = await get(path, credential);
    expect(response.status).toBe(status);
    expect(cacheHeaders(response)).toEqual(NOT_KEPT);
  },
);

// GW-104, GW-109
test("with ALLOWED_ORIGINS, responses vary by origin and credential, and preflights by origin", async () => {
  respondWith([["Vary", "Accept, origin"]]);
  const headers: Lines = [
    ["X-API-Key", WRITER],
    ["Origin", "https://a.example"],
  ];
  const response = await rawRequest(listed.url, spell("GET", "/org/things", headers));
  expect(cacheHeaders(response).vary).toEqual(["Accept, origin, Authorization, X-API-Key"]);
  const preflight = await rawRequest(listed.url, spell("OPTIONS", "/org/things", [["Origin", "null"]]));
  expect(cacheHeaders(preflight).vary).toEqual(["Origin"]);
});
