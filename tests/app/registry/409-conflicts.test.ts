/** Tests the answers to conflicts between services. tests/unit/routes/ownership.test.ts tests the rules. */
import { describe, expect, test } from "bun:test";
import { useRegistry } from "./bed.ts";
import { fields, service } from "./harness.ts";

const registry = useRegistry();

describe("a route", () => {
  // RG-29, RG-30
  test("of another service is 409 with every conflict and its owner, and nothing is written", async () => {
    await registry.put("owner", service("/owned/{id}", "/owned/{id}/parts/{part}", "/owned"));
    const answer = await registry.apply({
      thief: service("/owned/{x}", "/mine", "/owned"),
      innocent: service("/innocent"),
    });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({ type: "invalid_request_error", code: "ROUTE_CONFLICT" });
    expect(answer.body.error.details).toEqual({
      conflicts: [
        { service: "thief", method: "GET", path: "/owned/{x}", owner: "owner", owner_path: "/owned/{id}" },
        { service: "thief", method: "GET", path: "/owned", owner: "owner", owner_path: "/owned" },
      ],
    });
    expect(answer.body.error.message).toContain("GET /owned/{x} belongs to service owner as /owned/{id}");
    expect(answer.body.error.message).toContain("GET /owned belongs to service owner.");
    for (const name of ["thief", "innocent"]) {
      expect((await registry.call("GET", `/services/${name}/revisions`)).status).toBe(404);
    }
  });

  // RG-27
  test("may have several names for the params of one shape inside a service", async () => {
    expect((await registry.put("twins", service("/twins/{a}", "/twins/{b}"))).status).toBe(200);
    const { body } = await registry.put("twin-thief", service("/twins/{c}"));
    expect(body.error.details.conflicts).toEqual([
      { service: "twin-thief", method: "GET", path: "/twins/{c}", owner: "twins", owner_path: "/twins/{a}" },
    ]);
  });

  // RG-31
  test("moves between two services of one document", async () => {
    await registry.apply({ left: service("/moving"), right: service("/right") });
    const answer = await registry.apply({ left: service("/left"), right: service("/moving") });
    expect(answer.status).toBe(200);
    expect((await registry.put("left", service("/moving"))).status).toBe(409);
  });

  // RG-31
  test("is free again once its owner no longer publishes it", async () => {
    await registry.put("giver", service("/given"));
    await registry.put("giver", service("/other"));
    expect((await registry.put("taker", service("/given"))).status).toBe(200);
  });
});

describe("a shared policy", () => {
  const limited = (path: string, name: string, requests: number, shared?: boolean) => ({
    ...service(path),
    rate_limits: { [name]: { requests, window_seconds: 60, ...(shared !== undefined && { shared }) } },
  });

  // RG-32
  test("must have the same limit in every service", async () => {
    await registry.put("s-1", limited("/s-1", "quota", 10, true));
    expect((await registry.put("s-2", limited("/s-2", "quota", 10, true))).status).toBe(200);
    const answer = await registry.apply({ "s-3": limited("/s-3", "quota", 11, true) });
    expect(answer.status).toBe(422);
    expect(fields(answer)).toEqual([
      {
        path: "services.s-3.rate_limits.quota",
        message: expect.stringMatching(/is 10 in 60 s in service s-1/),
      },
    ]);
    expect((await registry.call("GET", "/services/s-3")).status).toBe(404);
  });

  // RG-32
  test("must have the same period, plans and charge in every service, with the plans in any order", async () => {
    const shared = (name: string, policy: object) => ({
      ...service(`/${name}`),
      rate_limits: { agreed: { requests: 10, shared: true, ...policy } },
    });
    const plans = { pro: { requests: 99 }, free: false, z: { requests: 1 } };
    await registry.put("v-1", shared("v-1", { period: "month", plans }));
    const turned = Object.fromEntries(Object.entries(plans).reverse());
    expect((await registry.put("v-2", shared("v-2", { period: "month", plans: turned }))).status).toBe(200);
    const others = [
      { period: "day", plans },
      { window_seconds: 60, plans },
      { period: "month" },
      { period: "month", plans: { ...plans, pro: { requests: 98 } } },
      { period: "month", plans: { ...plans, more: false } },
      { period: "month", plans, charge: "success" },
    ];
    for (const other of others) {
      const answer = await registry.put("v-3", shared("v-3", other));
      expect(fields(answer).map(({ path }) => path)).toEqual(["rate_limits.agreed"]);
    }
  });

  // RG-32
  test("is refused if another service has it as a local policy", async () => {
    await registry.put("mixed-1", limited("/mixed-1", "mixed", 10));
    const answer = await registry.put("mixed-2", limited("/mixed-2", "mixed", 10, true));
    expect(answer.status).toBe(422);
    expect(fields(answer).map(({ path }) => path)).toEqual(["rate_limits.mixed"]);
  });

  // RG-33
  test("may change if all services that have it change at once, or if only one has it", async () => {
    await registry.apply({
      "t-1": limited("/t-1", "tempo", 1, true),
      "t-2": limited("/t-2", "tempo", 1, true),
    });
    expect((await registry.put("t-1", limited("/t-1", "tempo", 2, true))).status).toBe(422);
    const both = { "t-1": limited("/t-1", "tempo", 2, true), "t-2": limited("/t-2", "tempo", 2, true) };
    expect((await registry.apply(both)).status).toBe(200);
    await registry.put("t-3", limited("/t-3", "lonely", 1, true));
    expect((await registry.put("t-3", limited("/t-3", "lonely", 2, true))).status).toBe(200);
  });
});
