import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type LocalGateway, publicService, startLocalGateway } from "../support/gateway.ts";
import { headerValue, headerValues, OK, RawUpstream, rawRequest, spell } from "../support/raw-http.ts";

/** Headers in both directions (Gateway specification, Gateway request handling; contract 4, Headers), as bytes. */

const service = new RawUpstream();
const gateways: LocalGateway[] = [];
let gateway: LocalGateway;

async function startGateway(env: Record<string, string> = {}): Promise<LocalGateway> {
  const started = await startLocalGateway(env);
  gateways.push(started);
  await started.publish({
    widgets: publicService(service.url, {
      path: "/widgets",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
    }),
  });
  return started;
}

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(async () => {
  await Promise.all(gateways.map((each) => each.close()));
  service.close();
});

afterEach(() => {
  service.requests.length = 0;
  service.handler = () => OK;
});

type Lines = [name: string, value: string][];

/** What the service received of a GET with these header lines. */
async function received(lines: Lines, through = gateway) {
  await rawRequest(through.url, spell("GET", "/widgets", lines));
  return service.request.headers;
}

/** What the client receives when the service sends these header lines. */
async function answered(lines: Lines, through = gateway, request: Lines = []) {
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  service.handler = () => `HTTP/1.1 200 OK\r\n${head}Content-Length: 2\r\n\r\nok`;
  return (await rawRequest(through.url, spell("GET", "/widgets", request))).headers;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("no credential and no audit header reaches a service", () => {
  const names = [
    "Authorization",
    "authorization",
    "AUTHORIZATION",
    "X-API-Key",
    "x-api-key",
    "X-Platform-Audit-Details",
    "X-Platform-Audit-Created",
    "X-Platform-Audit-Organization",
    "X-Platform-Audit-Member",
    "x-platform-audit-member",
  ];
  for (const name of names) {
    test(name, async () => {
      const headers = await received([
        [name, "secret-one"],
        [name, "secret-two"],
      ]);
      expect(headerValues(headers, name)).toEqual([]);
      expect(service.request.head).not.toContain("secret");
    });
  }
});

describe("fields of the connection end at the gateway", () => {
  const table: Lines = [
    ["Keep-Alive", "timeout=5"],
    ["Proxy-Authorization", "Basic x"],
    ["Proxy-Authenticate", "Basic"],
    ["Proxy-Connection", "keep-alive"],
    ["Proxy-Anything", "x"],
    ["Trailer", "X-T"],
    ["Upgrade", "h2c"],
    ["TE", "gzip"],
  ];
  for (const [name, value] of table) {
    test(`${name} of a request`, async () => {
      expect(headerValues(await received([[name, value]]), name)).toEqual([]);
    });
    test(`${name} of a response`, async () => {
      expect(headerValues(await answered([[name, value]]), name)).toEqual([]);
    });
  }

  test("what Connection names goes too, in both directions, however it is spelled", async () => {
    const connection: Lines = [
      ["Connection", "keep-alive, X-Hop , x-OTHER"],
      ["X-Hop", "1"],
      ["X-Other", "2"],
      ["X-Stays", "3"],
    ];
    const sent = await received(connection);
    expect(headerValues(sent, "x-hop")).toEqual([]);
    expect(headerValues(sent, "x-other")).toEqual([]);
    expect(headerValue(sent, "x-stays")).toBe("3");
    service.requests.length = 0;
    const back = await answered(connection);
    expect(headerValues(back, "x-hop")).toEqual([]);
    expect(headerValues(back, "x-other")).toEqual([]);
    expect(headerValue(back, "x-stays")).toBe("3");
  });

  test("Connection can not name away what the gateway sets", async () => {
    const names =
      "X-Request-ID, traceparent, Host, X-Content-Type-Options, Access-Control-Allow-Origin, Content-Length";
    const sent = await received([["Connection", names]]);
    expect(headerValue(sent, "x-request-id")).toMatch(UUID_V7);
    expect(headerValue(sent, "traceparent")).toMatch(/^00-/);
    expect(headerValue(sent, "host")).toBe(`127.0.0.1:${service.port}`);
    service.requests.length = 0;
    const back = await answered([["Connection", names]]);
    expect(headerValue(back, "x-request-id")).toMatch(UUID_V7);
    expect(headerValue(back, "x-content-type-options")).toBe("nosniff");
    expect(headerValue(back, "access-control-allow-origin")).toBe("*");
    expect(headerValue(back, "content-length")).toBe("2");
  });

  test("nonsense in Connection breaks nothing", async () => {
    const sent = await received([["Connection", ',, "x", a b, é, close;x']]);
    expect(headerValue(sent, "x-request-id")).toMatch(UUID_V7);
  });

  test("TE keeps trailers and nothing else", async () => {
    expect(headerValue(await received([["TE", "gzip;q=0.5, Trailers"]]), "te")).toBe("trailers");
  });

  test("Expect is the runtime's to answer", async () => {
    const response = await rawRequest(
      gateway.url,
      spell("POST", "/widgets", { Expect: "100-continue", "Content-Length": "2" }, "hi"),
    );
    expect(response.status).toBe(200);
    expect(headerValues(service.request.headers, "expect")).toEqual([]);
    expect(service.request.body.toString()).toBe("hi");
  });
});

describe("everything else passes unchanged", () => {
  test("of a request", async () => {
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

  test("of a response, codings and validators included", async () => {
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
    const headers = await answered(lines);
    for (const [name, value] of lines) expect(headerValue(headers, name)).toBe(value);
  });

  test("every Set-Cookie, each in a line of its own, in order", async () => {
    const cookies = ["a=1; Path=/; HttpOnly", "b=2; Expires=Fri, 20 Nov 2020 12:59:59 GMT", "a=3"];
    const headers = await answered(cookies.map((cookie) => ["Set-Cookie", cookie]));
    expect(headerValues(headers, "set-cookie")).toEqual(cookies);
  });

  test("no Content-Type where the service sent none", async () => {
    expect(headerValues(await answered([]), "content-type")).toEqual([]);
  });

  test("a client without a User-Agent is not given one that says something", async () => {
    expect(headerValues(await received([]), "user-agent").join("")).toBe("");
  });
});

describe("X-Request-ID", () => {
  test("is a new UUIDv7, the same for service and client, whatever the client sent", async () => {
    const response = await rawRequest(gateway.url, spell("GET", "/widgets", { "X-Request-ID": "mine" }));
    const id = headerValue(response.headers, "x-request-id");
    expect(id).toMatch(UUID_V7);
    expect(headerValue(service.request.headers, "x-request-id")).toBe(id);
  });

  test("replaces one that the service sent", async () => {
    expect(headerValue(await answered([["X-Request-ID", "theirs"]]), "x-request-id")).toMatch(UUID_V7);
  });

  test("is on errors, in header and envelope alike", async () => {
    const response = await rawRequest(gateway.url, spell("GET", "/nowhere"));
    const id = headerValue(response.headers, "x-request-id");
    expect(JSON.parse(response.body.toString()).error.request_id).toBe(id);
  });

  test("is never given twice", async () => {
    const ids = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await fetch(`${gateway.url}/nowhere`);
        return response.headers.get("x-request-id");
      }),
    );
    expect(new Set(ids).size).toBe(200);
  });
});

describe("trace context", () => {
  const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

  test("a valid trace goes on under a new parent, with its state", async () => {
    const headers = await received([
      ["traceparent", PARENT],
      ["tracestate", "a=1,b=2"],
    ]);
    const sent = headerValue(headers, "traceparent") ?? "";
    expect(sent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(sent).not.toBe(PARENT);
    expect(headerValue(headers, "tracestate")).toBe("a=1,b=2");
  });

  const invalid: Record<string, Lines> = {
    none: [["tracestate", "a=1"]],
    garbage: [
      ["traceparent", "garbage"],
      ["tracestate", "a=1"],
    ],
    two: [
      ["traceparent", PARENT],
      ["traceparent", PARENT],
      ["tracestate", "a=1"],
    ],
    "all zero": [
      ["traceparent", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
      ["tracestate", "a=1"],
    ],
    "version ff": [
      ["traceparent", PARENT.replace("00-", "ff-")],
      ["tracestate", "a=1"],
    ],
  };
  for (const [name, lines] of Object.entries(invalid)) {
    test(`starts anew without state when it is ${name}`, async () => {
      const headers = await received(lines);
      const sent = headerValue(headers, "traceparent") ?? "";
      expect(sent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/);
      expect(sent).not.toContain(TRACE);
      expect(headerValues(headers, "tracestate")).toEqual([]);
    });
  }
});

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
  for (const [name, bytes, status] of table) {
    test(`are on ${name}, once each`, async () => {
      const response = await rawRequest(gateway.url, bytes);
      expect(response.status).toBe(status);
      for (const [header, value] of Object.entries(SECURITY)) {
        expect(headerValue(response.headers, header)).toBe(value);
      }
    });
  }

  test("replace those that a service sent", async () => {
    const headers = await answered([
      ["X-Frame-Options", "SAMEORIGIN"],
      ["Referrer-Policy", "unsafe-url"],
    ]);
    expect(headerValue(headers, "x-frame-options")).toBe("DENY");
    expect(headerValue(headers, "referrer-policy")).toBe(SECURITY["referrer-policy"]);
  });

  test("are not on the internal port", async () => {
    for (const path of ["/health/live", "/metrics"]) {
      const response = await fetch(gateway.internal_url + path);
      expect(response.status).toBe(200);
      for (const header of Object.keys(SECURITY)) expect(response.headers.has(header)).toBe(false);
    }
  });
});

test("the four audit headers never reach a client", async () => {
  const headers = await answered([
    ["X-Platform-Audit-Details", '{"a":1}'],
    ["x-platform-audit-created", "w1"],
    ["X-Platform-Audit-Organization", "o1"],
    ["X-Platform-Audit-Member", "m1"],
  ]);
  expect(headers.filter(([name]) => /audit/i.test(name))).toEqual([]);
});

describe("CORS without ALLOWED_ORIGINS", () => {
  test("every origin may read a response, and its headers", async () => {
    const headers = await answered([], gateway, [["Origin", "https://anyone.example"]]);
    expect(headerValue(headers, "access-control-allow-origin")).toBe("*");
    expect(headerValue(headers, "access-control-expose-headers")).toBe(
      "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After",
    );
    expect(headerValues(headers, "vary")).toEqual([]);
  });

  test("what a service says of CORS is replaced", async () => {
    const headers = await answered([
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

  test("OPTIONS on any path, published or not, is a preflight that no service sees", async () => {
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

  test("a preflight allows the headers that are asked for", async () => {
    const request = spell("OPTIONS", "/widgets", { "Access-Control-Request-Headers": "x-one, X-Two" });
    const response = await rawRequest(gateway.url, request);
    expect(headerValue(response.headers, "access-control-allow-headers")).toBe("x-one, X-Two");
  });
});

describe("CORS with ALLOWED_ORIGINS", () => {
  let listed: LocalGateway;
  beforeAll(async () => {
    listed = await startGateway({ ALLOWED_ORIGINS: "https://a.example, https://b.example:8443" });
  });

  test("a listed origin is reflected, and caches are told", async () => {
    for (const origin of ["https://a.example", "https://b.example:8443"]) {
      const headers = await answered([["Vary", "Accept"]], listed, [["Origin", origin]]);
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
    test(`${origin} gets no allow header, neither for a response nor for a preflight`, async () => {
      const headers = await answered([], listed, [["Origin", origin]]);
      expect(headers.filter(([name]) => /^access-control/i.test(name))).toEqual([]);
      expect(headerValue(headers, "vary")).toBe("Origin");
      const preflight = await rawRequest(listed.url, spell("OPTIONS", "/widgets", { Origin: origin }));
      expect(preflight.status).toBe(204);
      expect(preflight.headers.filter(([name]) => /^access-control-allow/i.test(name))).toEqual([]);
    });
  }

  test("errors are readable by a listed origin too", async () => {
    const response = await rawRequest(listed.url, spell("GET", "/nowhere", { Origin: "https://a.example" }));
    expect(headerValue(response.headers, "access-control-allow-origin")).toBe("https://a.example");
  });

  test("a Vary that names Origin already is left alone", async () => {
    const headers = await answered([["Vary", "origin"]], listed, [["Origin", "https://a.example"]]);
    expect(headerValues(headers, "vary")).toEqual(["origin"]);
  });
});

describe("who called stays with the gateway", () => {
  const forwarded: Lines = [
    ["X-Forwarded-For", "1.2.3.4, 5.6.7.8"],
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Host", "api.example.com"],
    ["X-Forwarded-Anything", "x"],
    ["Forwarded", "for=1.2.3.4"],
  ];

  test("without trusted proxies nothing of Forwarded passes", async () => {
    const headers = await received(forwarded);
    expect(headers.filter(([name]) => /forwarded/i.test(name))).toEqual([]);
  });

  test("behind trusted proxies it passes as it came", async () => {
    const trusting = await startGateway({ TRUSTED_PROXY_HOPS: "1" });
    const headers = await received(forwarded, trusting);
    for (const [name, value] of forwarded) expect(headerValue(headers, name)).toBe(value);
  });

  test("FORWARD_CLIENT_ADDRESS tells the socket's address in place of what the client claims", async () => {
    const telling = await startGateway({ FORWARD_CLIENT_ADDRESS: "true" });
    const headers = await received(forwarded, telling);
    expect(headers.filter(([name]) => /forwarded/i.test(name)).length).toBe(3);
    expect(headerValue(headers, "x-forwarded-for")).toBe("127.0.0.1");
    expect(headerValue(headers, "x-forwarded-proto")).toBe("http");
    expect(headerValue(headers, "x-forwarded-host")).toBe("gateway.test");
  });

  test("FORWARD_CLIENT_ADDRESS behind trusted proxies adds to what they said", async () => {
    const telling = await startGateway({ FORWARD_CLIENT_ADDRESS: "true", TRUSTED_PROXY_HOPS: "1" });
    const headers = await received(forwarded, telling);
    expect(headerValue(headers, "x-forwarded-for")).toBe("1.2.3.4, 5.6.7.8, 127.0.0.1");
    expect(headerValue(headers, "x-forwarded-proto")).toBe("https");
    expect(headerValue(headers, "x-forwarded-host")).toBe("api.example.com");
  });
});

describe("bodies keep their meaning", () => {
  test("HEAD keeps the length of the service, and the connection lives on", async () => {
    service.handler = () => "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 70000\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("HEAD", "/widgets"));
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("70000");
  });

  test("HEAD of a length unknown is not given one", async () => {
    service.handler = () =>
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("HEAD", "/widgets"));
    expect(headerValues(response.headers, "content-length")).toEqual([]);
  });

  test("304 keeps its length and validator, and has no body", async () => {
    service.handler = () => 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 500\r\n\r\n';
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response).toMatchObject({ status: 304, complete: true });
    expect(headerValue(response.headers, "content-length")).toBe("500");
    expect(headerValue(response.headers, "etag")).toBe('"x"');
  });

  test("204 has no body and no length", async () => {
    service.handler = () => "HTTP/1.1 204 No Content\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("DELETE", "/widgets"));
    expect(response.status).toBe(204);
    expect(headerValues(response.headers, "content-length")).toEqual([]);
  });

  test("redirects are passed on, never followed", async () => {
    service.handler = () =>
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(307);
    expect(headerValue(response.headers, "location")).toBe("/elsewhere");
    expect(service.requests.length).toBe(1);
  });

  test("103 is not passed on, the answer after it is", async () => {
    service.handler = () => `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${OK}`;
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(200);
    expect(response.body.toString()).toBe("ok");
  });

  test("the service's own errors pass as they are", async () => {
    service.handler = () =>
      "HTTP/1.1 418 I'm a Teapot\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nteapot";
    const response = await rawRequest(gateway.url, spell("GET", "/widgets"));
    expect(response.status).toBe(418);
    expect(response.body.toString()).toBe("teapot");
  });
});
