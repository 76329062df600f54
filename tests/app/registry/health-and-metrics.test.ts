import { describe, expect, test } from "bun:test";
import { waitFor } from "../../support/index.ts";
import { projected, service, startRegistry } from "./bed.ts";

describe("the internal port", () => {
  const get = (url: string, path: string) => fetch(`${url}${path}`);

  // RG-102, OP-29
  test("serves liveness and readiness without a token", async () => {
    await using registry = await startRegistry();
    for (const path of ["/health/live", "/health/ready"]) {
      const response = await get(registry.internalUrl, path);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: "healthy" });
    }
    expect((await get(registry.internalUrl, "/services")).status).toBe(404);
  });

  test("counts requests, operations on both stores, and projections", async () => {
    await using registry = await startRegistry();
    await registry.put("counted", service("/counted"));
    await registry.call("GET", "/services/unknown");
    await waitFor(async () => "counted" in (await projected(registry.routeStore)));
    const text = await waitFor(async () => {
      const scrape = await (await get(registry.internalUrl, "/metrics")).text();
      // More than one write is possible: the comparison at the start may have projected the service too.
      const written = /^registry_projections_total\{result="written"\} [1-9]/m.test(scrape);
      return written && scrape.includes("registry_projections_outstanding 0") && scrape;
    });
    for (const line of [
      'http_requests_total{route="/services/{name}",method="PUT",status="200"} 1',
      'http_requests_total{route="/services/{name}",method="GET",status="404"} 1',
      'http_request_duration_seconds_count{route="/services/{name}",method="PUT"} 1',
      'db_operations_total{db_system_name="postgresql",db_operation_name="put",db_namespace="routes"} 1',
      'db_operation_duration_seconds_count{db_system_name="postgresql",db_operation_name="put",db_namespace="routes"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/^process_start_time_seconds \d+$/m);
  });
});
