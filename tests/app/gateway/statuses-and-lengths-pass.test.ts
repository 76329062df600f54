import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { LocalGateway } from "../../support/gateway.ts";
import { WidgetsBed } from "../../support/gateway-widgets-bed.ts";
import { headerValue, headerValues, OK, rawRequest, spell } from "../../support/raw-http.ts";

/** Bodies and statuses pass unchanged in meaning (GW-94, GW-99). */

const bed = new WidgetsBed();
const { service } = bed;
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await bed.start();
});

afterAll(() => bed.close());
afterEach(() => bed.reset());

describe("bodies keep their meaning", () => {
  // GW-99
  test("HEAD keeps the length of the service, and the connection stays open", async () => {
    service.handler = () => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 70000\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("HEAD", "/widgets"));
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("70000");
  });

  // GW-99
  test("HEAD of unknown length gets no length", async () => {
    service.handler = () =>
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("HEAD", "/widgets"));
    expect(headerValues(response.headers, "content-length")).toEqual([]);
  });

  // GW-99
  test("304 keeps its length and validator, and has no body", async () => {
    service.handler = () => 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 500\r\n\r\n';
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response).toMatchObject({ status: 304, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("500");
    expect(headerValue(response.headers, "etag")).toBe('"x"');
  });

  // GW-99
  test("204 has no body and no length", async () => {
    service.handler = () => "HTTP/1.1 204 No Content\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("DELETE", "/widgets"));
    expect(response.status).toBe(204);
    expect(headerValues(response.headers, "content-length")).toEqual([]);
  });

  // GW-94
  test("redirects are passed on, never followed", async () => {
    service.handler = () =>
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(307);
    expect(headerValue(response.headers, "location")).toBe("/elsewhere");
    expect(service.requests.length).toBe(1);
  });

  // GW-102
  test("103 is not passed on, the answer after it is", async () => {
    service.handler = () => `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${OK}`;
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(200);
    expect(response.body.toString()).toBe("ok");
  });

  // GW-94
  test("the service's own errors pass unchanged", async () => {
    service.handler = () =>
      "HTTP/1.1 418 I'm a Teapot\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nteapot";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(418);
    expect(response.body.toString()).toBe("teapot");
  });
});
