/** Tests which client address the gateway uses, and which addresses services get (GW-90 to GW-93). */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import { type Lines, WidgetsBed } from "../../support/gateway/widgets-bed.ts";
import { headerValue, rawRequest, spell } from "../../support/http/raw-http.ts";

const bed = new WidgetsBed();

afterAll(() => bed.close());
afterEach(() => bed.reset());

// GW-74, GW-90, GW-219, GW-220
test.each([
  ["0", ["1.1.1.1", "2.2.2.2"], [404, 429]],
  ["1", ["::ffff:1.1.1.1", "1.1.1.1", "2001:db8:1:2::1", "2001:db8:1:2:ffff::"], [404, 429, 404, 429]],
])("failures are counted by the client's address behind %s proxies", async (hops, lists, expected) => {
  await using limited = await startLocalGateway({
    TRUSTED_PROXY_HOPS: hops,
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: "1",
  });
  const statuses: number[] = [];
  for (const list of lists) {
    const request = spell("GET", "/nowhere", { "X-Forwarded-For": list });
    statuses.push((await rawRequest(limited.url, request)).status);
  }
  expect(statuses).toEqual(expected);
});

// GW-65, GW-220
test("an IPv6 address stands for itself in the limit of a public route", async () => {
  await using limited = await startLocalGateway({ TRUSTED_PROXY_HOPS: "1", RATE_LIMIT_REQUESTS: "1" });
  const route = { path: "/public", methods: ["GET" as const] };
  await limited.publish({ widgets: publicService(bed.service.url, route) });
  const statuses: number[] = [];
  for (const address of ["2001:db8::1", "2001:db8::2", "2001:DB8:0::2"]) {
    const response = await rawRequest(limited.url, spell("GET", "/public", { "X-Forwarded-For": address }));
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 200, 429]);
});

describe("Forwarded headers to services:", () => {
  const forwarded: Lines = [
    ["X-Forwarded-For", "1.2.3.4, 5.6.7.8"],
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Host", "api.example.com"],
    ["X-Forwarded-Anything", "x"],
    ["Forwarded", "for=1.2.3.4"],
  ];

  // GW-92
  test("are removed if no proxy is trusted", async () => {
    const headers = await bed.received(forwarded, await bed.start());
    expect(headers.filter(([name]) => /forwarded/i.test(name))).toEqual([]);
  });

  // GW-92
  test("pass unchanged behind trusted proxies", async () => {
    const trusting = await bed.start({ TRUSTED_PROXY_HOPS: "1" });
    const headers = await bed.received(forwarded, trusting);
    for (const [name, value] of forwarded) expect(headerValue(headers, name)).toBe(value);
  });

  // GW-93
  test("have the socket's address with FORWARD_CLIENT_ADDRESS, not what the client claims", async () => {
    const telling = await bed.start({ FORWARD_CLIENT_ADDRESS: "true" });
    const headers = await bed.received(forwarded, telling);
    expect(headers.filter(([name]) => /forwarded/i.test(name)).length).toBe(3);
    expect(headerValue(headers, "x-forwarded-for")).toBe("127.0.0.1");
    expect(headerValue(headers, "x-forwarded-proto")).toBe("http");
    expect(headerValue(headers, "x-forwarded-host")).toBe("gateway.test");
  });

  // GW-93
  test("extend the proxies' list with FORWARD_CLIENT_ADDRESS behind trusted proxies", async () => {
    const telling = await bed.start({ FORWARD_CLIENT_ADDRESS: "true", TRUSTED_PROXY_HOPS: "1" });
    const headers = await bed.received(forwarded, telling);
    expect(headerValue(headers, "x-forwarded-for")).toBe("1.2.3.4, 5.6.7.8, 127.0.0.1");
    expect(headerValue(headers, "x-forwarded-proto")).toBe("https");
    expect(headerValue(headers, "x-forwarded-host")).toBe("api.example.com");
  });

  // GW-92
  test.each<Record<string, string>>([{}, { TRUSTED_PROXY_HOPS: "1" }])(
    "never name the client in other headers, with %p",
    async (env) => {
      const claims: Lines = [
        ["X-Real-IP", "1.2.3.4"],
        ["X-Client-IP", "1.2.3.4"],
        ["X-Cluster-Client-IP", "1.2.3.4"],
        ["True-Client-IP", "1.2.3.4"],
        ["CF-Connecting-IP", "1.2.3.4"],
        ["cf_connecting_ip", "1.2.3.4"],
      ];
      const headers = await bed.received([...claims, ["X-Passes", "yes"]], await bed.start(env));
      expect(headerValue(headers, "x-passes")).toBe("yes");
      expect(headers.filter(([, value]) => value === "1.2.3.4")).toEqual([]);
    },
  );

  const twins: Lines = forwarded
    .filter(([name]) => name !== "Forwarded")
    .map(([name, value]) => [name.replaceAll("-", "_"), value]);
  // GW-87, GW-92
  test("never pass with underscores in their names", async () => {
    const headers = await bed.received(twins, await bed.start({ TRUSTED_PROXY_HOPS: "1" }));
    for (const [name] of twins) expect(headerValue(headers, name)).toBeNull();
  });
});
