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

function toldCaches({ headers }: RawResponse) {
  return { cacheControl: headerValues(headers, "cache-control"), vary: headerValues(headers, "vary") };
}

function answerWith(lines: Lines, status = "200 OK"): void {
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  bed.service.handler = () => `HTTP/1.1 ${status}\r\n${head}Content-Length: 2\r\n\r\nok`;
}

const get = (path: string, credential: string | null) => bed.call("GET", path, credential);

describe("a service's response without cache headers", () => {
  // GW-104
  test.each([
    ["user", "/user/things/1", USER],
    ["organization", "/org/things", WRITER],
    ["member", "/member/things", WRITER],
  ])("gets no-store and varies by credential on a route of %s scope", async (_, path, credential) => {
    for (const status of ["201 Created", "500 Internal Server Error"]) {
      answerWith([], status);
      const answer = await get(path, credential);
      expect(answer.status).toBe(Number.parseInt(status, 10));
      expect(toldCaches(answer)).toEqual(NOT_KEPT);
    }
  });

  // GW-105
  test("passes unchanged on a public route", async () => {
    answerWith([]);
    expect(toldCaches(await get("/public", WRITER))).toEqual({ cacheControl: [], vary: [] });
  });

  // GW-104
  test.each(["204 No Content", "304 Not Modified"])("gets no-store if its status is %s", async (status) => {
    bed.service.handler = () => `HTTP/1.1 ${status}\r\nETag: "x"\r\n\r\n`;
    expect(toldCaches(await get("/org/things", WRITER))).toEqual(NOT_KEPT);
  });

  // GW-104
  test("gets no-store if it streams", async () => {
    bed.service.handler = () =>
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n2\r\nok\r\n0\r\n\r\n";
    expect(toldCaches(await get("/org/things", WRITER))).toEqual(NOT_KEPT);
  });
});

describe("a service's response with cache headers", () => {
  // GW-104
  test("keeps its Cache-Control, and varies by the credential", async () => {
    answerWith([["Cache-Control", "private, max-age=60"]]);
    expect(toldCaches(await get("/org/things", WRITER))).toEqual({
      cacheControl: ["private, max-age=60"],
      vary: ["Authorization, X-API-Key"],
    });
  });

  // GW-104, GW-105
  test.each<[said: string[], vary: string]>([
    [["Accept"], "Accept, Authorization, X-API-Key"],
    [["x-api-key , AUTHORIZATION"], "x-api-key , AUTHORIZATION"],
    [["*"], "*"],
    [["Accept, *"], "Accept, *"],
  ])("with Vary %j is sent with one Vary, which names each header once", async (said, vary) => {
    answerWith(said.map((value) => ["Vary", value]));
    expect(toldCaches(await get("/org/things", WRITER)).vary).toEqual([vary]);
  });

  // GW-105
  test("keeps both on a public route", async () => {
    answerWith([
      ["Cache-Control", "max-age=1"],
      ["Vary", "Accept"],
    ]);
    expect(toldCaches(await get("/public", null))).toEqual({ cacheControl: ["max-age=1"], vary: ["Accept"] });
  });
});

// GW-104
describe("an error response of the gateway", () => {
  test.each<[status: number, path: string, credential: string | null]>([
    [401, "/org/things", null],
    [403, "/org/limited", READER],
    [502, "/dead", WRITER],
  ])("has no-store if it is a %i on a route that requires a credential", async (status, path, credential) => {
    const answer = await get(path, credential);
    expect(answer.status).toBe(status);
    expect(toldCaches(answer)).toEqual(NOT_KEPT);
  });
});

// GW-104, GW-109
describe("with ALLOWED_ORIGINS", () => {
  const from = async (path: string, vary: string | null) => {
    answerWith(vary === null ? [] : [["Vary", vary]]);
    const headers: Lines = [
      ["X-API-Key", WRITER],
      ["Origin", "https://a.example"],
    ];
    return toldCaches(await rawRequest(listed.url, spell("GET", path, headers))).vary;
  };

  test("responses vary by origin and credential, in one Vary header", async () => {
    expect(await from("/org/things", null)).toEqual(["Origin, Authorization, X-API-Key"]);
    expect(await from("/org/things", "Accept, origin")).toEqual(["Accept, origin, Authorization, X-API-Key"]);
  });

  test("preflights vary by origin", async () => {
    const preflight = await rawRequest(listed.url, spell("OPTIONS", "/org/things", [["Origin", "null"]]));
    expect(toldCaches(preflight).vary).toEqual(["Origin"]);
  });
});
