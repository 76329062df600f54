/** Tests which headers the gateway forwards in both directions, byte for byte (GW-82 to GW-101). */
import { describe, expect, test } from "bun:test";
import { type Lines, UUID_V7, WidgetsBed } from "../../support/gateway/widgets-bed.ts";
import { headerValue, headerValues, rawRequest, spell } from "../../support/http/raw-http.ts";
import { wordsOf } from "../../support/words.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new WidgetsBed());
const { service, gateway } = bed;

const received = (lines: Lines, through = gateway) => bed.received(lines, through);
const responseHeaders = (lines: Lines, through = gateway, request: Lines = []) =>
  bed.responseHeaders(lines, through, request);

// GW-32, GW-82
test("no credential and no audit header reaches a service", async () => {
  const names = wordsOf(`
    Authorization X-API-Key X-Platform-Audit-Details X-Platform-Audit-Created
    X-Platform-Audit-Organization X-Platform-Audit-Member
  `);
  await received(
    names.flatMap(
      (name): Lines => [
        [name, "secret-one"],
        [name, "secret-two"],
      ],
    ),
  );
  expect(service.request.head).not.toMatch(/secret|authorization|api-key|audit/i);
});

// GW-87
describe("a header under a name with underscores", () => {
  test("reaches no service if the gateway removes or sets the header", async () => {
    const names = wordsOf(`
      X_API_Key X_Request_ID X_Platform_Audit_Details Proxy_Authorization X_Forwarded_For X_Real_IP
      true_client-ip
    `);
    await received(
      names.flatMap(
        (name): Lines => [
          [name, "twin"],
          [name, "again"],
        ],
      ),
    );
    expect(service.request.head).not.toMatch(/twin|again/);
  });

  test("passes otherwise", async () => {
    const lines: Lines = [
      ["X_Custom", "1"],
      ["_", "2"],
      ["x_api_key_id", "3"],
      ["X_Forwarded", "4"],
      ["my_proxy_name", "5"],
    ];
    const headers = await received(lines);
    for (const [name, value] of lines) expect(headerValue(headers, name)).toBe(value);
  });
});

// GW-85
describe("hop-by-hop headers are not forwarded:", () => {
  const table: Lines = [
    ["Keep-Alive", "timeout=5"],
    ["Proxy-Authorization", "Basic x"],
    ["Proxy-Connection", "keep-alive"],
    ["Proxy-Anything", "x"],
    ["Proxy", "http://attacker.test"],
    ["Trailer", "X-T"],
    ["Upgrade", "h2c"],
    ["TE", "gzip"],
  ];
  test("of a request, and of a response", async () => {
    const sent = await received(table);
    const back = await responseHeaders(table);
    for (const [name] of table)
      expect([name, headerValues(sent, name), headerValues(back, name)]).toEqual([name, [], []]);
  });

  test("headers that Connection names, in both directions and in any letter case", async () => {
    const connection: Lines = [
      ["Connection", "keep-alive, X-Hop , x-OTHER"],
      ["X-Hop", "1"],
      ["X-Other", "2"],
      ["X-Stays", "3"],
    ];
    const sent = await received([...connection, ["X_Hop", "twin"]]);
    expect(headerValues(sent, "x_hop")).toEqual([]);
    expect(headerValues(sent, "x-hop")).toEqual([]);
    expect(headerValues(sent, "x-other")).toEqual([]);
    expect(headerValue(sent, "x-stays")).toBe("3");
    const back = await responseHeaders(connection);
    expect(headerValues(back, "x-hop")).toEqual([]);
    expect(headerValues(back, "x-other")).toEqual([]);
    expect(headerValue(back, "x-stays")).toBe("3");
  });

  // GW-86
  test("a client's Connection cannot remove headers that the gateway sets", async () => {
    const names = `X-Request-ID, traceparent, tracestate, TE, Host, Content-Length`;
    const sent = await received([
      ["Connection", names],
      ["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
      ["tracestate", "a=1"],
      ["TE", "trailers"],
    ]);
    expect(headerValue(sent, "x-request-id")).toMatch(UUID_V7);
    expect(headerValue(sent, "traceparent")).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-/);
    expect(headerValue(sent, "tracestate")).toBe("a=1");
    expect(headerValue(sent, "te")).toBe("trailers");
    expect(headerValue(sent, "host")).toBe(`127.0.0.1:${service.port}`);
  });

  test("a service's Connection cannot remove headers that the gateway sets either", async () => {
    const limited = await bed.start({ ALLOWED_ORIGINS: "https://app.test", RATE_LIMIT_REQUESTS: "9" });
    const own: Record<string, string | RegExp> = {
      "X-Request-ID": UUID_V7,
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "Referrer-Policy": "strict-origin-when-cross-origin",
      "Access-Control-Allow-Origin": "https://app.test",
      "Access-Control-Expose-Headers": /X-RateLimit-Limit/,
      Vary: /Origin/,
      "X-RateLimit-Limit": "9",
      "X-RateLimit-Remaining": "8",
      "X-RateLimit-Reset": /^\d+$/,
      "Content-Length": "2",
    };
    const lines: Lines = [["Connection", Object.keys(own).join(", ")]];
    const back = await responseHeaders(lines, limited, [["Origin", "https://app.test"]]);
    for (const [name, value] of Object.entries(own)) expect(headerValue(back, name)).toMatch(value);
  });

  test("an invalid Connection header does no harm", async () => {
    const sent = await received([["Connection", ',, "x", a b, é, close;x']]);
    expect(headerValue(sent, "x-request-id")).toMatch(UUID_V7);
  });

  // GW-85
  test("TE keeps only trailers, and Connection names it", async () => {
    const sent = await received([["TE", "gzip;q=0.5, Trailers"]]);
    expect(headerValues(sent, "te")).toEqual(["trailers"]);
    expect(headerValues(sent, "connection")).toEqual(["TE"]);
  });

  // GW-88
  test("the runtime responds to Expect", async () => {
    const response = await rawRequest(
      gateway.url,
      spell("POST", "/widgets", { Expect: "100-continue", "Content-Length": "2" }, "hi"),
    );
    expect(response.status).toBe(200);
    expect(headerValues(service.request.headers, "expect")).toEqual([]);
    expect(service.request.body.toString()).toBe("hi");
  });
});

describe("all other headers pass unchanged:", () => {
  // GW-88, GW-89
  test("in a request", async () => {
    const lines: Lines = [
      ["Accept", "application/json;q=0.9, */*"],
      ["Accept-Encoding", "br, gzip"],
      ["Accept-Language", "fr"],
      ["Cookie", "a=1; b=2"],
      ["User-Agent", "widget-client/1"],
      ["Range", "bytes=0-99"],
      ["If-None-Match", '"abc"'],
      ["Origin", "https://app.example.com"],
      ["Referer", "https://app.example.com/x"],
      ["X-Custom", "spaces  inside, commas"],
      ["X-Platform-Other", "kept"],
    ];
    const headers = await received(lines);
    for (const [name, value] of lines) expect(headerValue(headers, name)).toBe(value);
  });

  // GW-94, GW-98
  test("in a response, with codings and validators", async () => {
    const lines: Lines = [
      ["Content-Type", "application/x-custom"],
      ["Content-Encoding", "gzip"],
      ["ETag", 'W/"x"'],
      ["Cache-Control", "max-age=1"],
      ["Server", "service/1"],
      ["Date", "Fri, 20 Nov 2020 12:59:59 GMT"],
      ["Last-Modified", "Fri, 20 Nov 2020 12:59:59 GMT"],
      ["Accept-Ranges", "bytes"],
      ["Location", "/elsewhere"],
      ["WWW-Authenticate", 'Basic realm="service"'],
      ["Strict-Transport-Security", "max-age=1"],
    ];
    const headers = await responseHeaders(lines);
    for (const [name, value] of lines) expect(headerValue(headers, name)).toBe(value);
  });

  // GW-98
  test("every Set-Cookie, each in a line of its own, in order", async () => {
    const cookies = ["a=1; Path=/; HttpOnly", "b=2; Expires=Fri, 20 Nov 2020 12:59:59 GMT", "a=3"];
    const headers = await responseHeaders(cookies.map((cookie) => ["Set-Cookie", cookie]));
    expect(headerValues(headers, "set-cookie")).toEqual(cookies);
  });

  // GW-88, GW-101
  test("no User-Agent and no Content-Type is added", async () => {
    expect(headerValues(await responseHeaders([]), "content-type")).toEqual([]);
    expect(headerValues(service.request.headers, "user-agent").join("")).toBe("");
  });
});

describe("X-Request-ID", () => {
  // GW-83, GW-96
  test("is a new UUIDv7, the same for service and client, whatever both sent", async () => {
    service.handler = () => "HTTP/1.1 200 OK\r\nX-Request-ID: theirs\r\nContent-Length: 0\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets", { "X-Request-ID": "mine" }));
    const id = headerValue(response.headers, "x-request-id");
    expect(id).toMatch(UUID_V7);
    expect(headerValue(service.request.headers, "x-request-id")).toBe(id);
  });

  // GW-96, ER-5
  test("is in the header and the body of errors", async () => {
    const response = await rawRequest(gateway.url, spell("GET", "/nowhere"));
    const id = headerValue(response.headers, "x-request-id");
    expect(JSON.parse(response.body.toString()).error.request_id).toBe(id);
  });
});

// GW-84
describe("trace context", () => {
  const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

  test("continues a valid trace with a new parent id and the same state", async () => {
    const headers = await received([
      ["traceparent", PARENT],
      ["tracestate", "a=1,b=2"],
    ]);
    const sent = headerValue(headers, "traceparent") ?? "";
    expect(sent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(sent).not.toBe(PARENT);
    expect(headerValue(headers, "tracestate")).toBe("a=1,b=2");
  });

  test("starts a new trace without state if it is invalid", async () => {
    const headers = await received([
      ["traceparent", "garbage"],
      ["tracestate", "a=1"],
    ]);
    expect(headerValue(headers, "traceparent")).toMatch(
      /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/,
    );
    expect(headerValues(headers, "tracestate")).toEqual([]);
  });
});

// GW-97
describe("security headers", () => {
  const SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "strict-origin-when-cross-origin",
  };
  const table: [name: string, bytes: string, status: number][] = [
    ["a proxied response", spell("GET", "/widgets"), 200],
    ["a preflight", spell("OPTIONS", "/widgets"), 204],
    ["a 404", spell("GET", "/nowhere"), 404],
    ["a 400", spell("GET", "/widgets", { Host: "a b" }), 400],
    ["a 413", spell("POST", "/widgets", { "Content-Length": "99999999" }), 413],
  ];
  test.each(table)("are on %s, once each", async (_, bytes, status) => {
    const response = await rawRequest(gateway.url, bytes);
    expect(response.status).toBe(status);
    for (const [header, value] of Object.entries(SECURITY)) {
      expect(headerValue(response.headers, header)).toBe(value);
    }
  });

  // GW-95
  test("replace those that a service sent, and the four audit headers never reach a client", async () => {
    const headers = await responseHeaders([
      ["X-Frame-Options", "SAMEORIGIN"],
      ["Referrer-Policy", "unsafe-url"],
      ["X-Platform-Audit-Details", '{"a":1}'],
      ["x-platform-audit-created", "w1"],
      ["X-Platform-Audit-Organization", "o1"],
      ["X-Platform-Audit-Member", "m1"],
    ]);
    for (const [name, value] of Object.entries(SECURITY))
      expect(headerValues(headers, name)).toEqual([value]);
    expect(headers.filter(([name]) => /audit/i.test(name))).toEqual([]);
  });

  test("are not on the internal port", async () => {
    for (const path of ["/health/live", "/metrics"]) {
      const response = await fetch(gateway.internalUrl + path);
      expect(response.status).toBe(200);
      for (const header of Object.keys(SECURITY)) expect(response.headers.has(header)).toBe(false);
    }
  });
});
