/** Tests the responses to conflicts between services. tests/unit/routes/ownership.test.ts tests the rules. */
import { describe, expect, test } from "bun:test";
import { fields, service, useRegistry } from "./bed.ts";

const registry = useRegistry();

describe("a route", () => {
  // RG-29, RG-30
  test("of another service is 409 with every conflict and its owner, and nothing is written", async () => {
    await registry.put("owner", service("/owned/{id}", "/owned/{id}/parts/{part}", "/owned"));
    const response = await registry.apply({
      thief: service("/owned/{x}", "/mine", "/owned"),
      innocent: service("/innocent"),
    });
    expect(response.status).toBe(409);
    expect(response.body.error).toMatchObject({ type: "invalid_request_error", code: "ROUTE_CONFLICT" });
    expect(response.body.error.details).toEqual({
      conflicts: [
        { service: "thief", method: "GET", path: "/owned/{x}", owner: "owner", owner_path: "/owned/{id}" },
        { service: "thief", method: "GET", path: "/owned", owner: "owner", owner_path: "/owned" },
      ],
    });
    expect(response.body.error.message).toContain("GET /owned/{x} belongs to service owner as /owned/{id}");
    expect(response.body.error.message).toContain("GET /owned belongs to service owner.");
    for (const name of ["thief", "innocent"]) {
      expect((await registry.call("GET", `/services/${name}/revisions`)).status).toBe(404);
    }
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
    const response = await registry.apply({ "s-3": limited("/s-3", "quota", 11, true) });
    expect(response.status).toBe(422);
    expect(fields(response)).toEqual([
      {
        path: "services.s-3.rate_limits.quota",
        message: expect.stringMatching(/is 10 in 60 s in service s-1/),
      },
    ]);
    expect((await registry.call("GET", "/services/s-3")).status).toBe(404);
  });
});
