import { describe, expect, test } from "bun:test";
import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { outOfBounds } from "../../../apps/console/operator/permissions.ts";

const operator = (role: CurrentOperator["role"], bounds: Partial<CurrentOperator> = {}): CurrentOperator => ({
  name: "team",
  role,
  services: null,
  paths: null,
  urls: null,
  ...bounds,
});

const config = (path: string): StoredServiceConfig => ({
  url: "http://own:1",
  user: { routes: [{ path, methods: ["GET", "POST"] }] },
});

// RG-132
describe("the list of what is outside an operator's bounds", () => {
  test("is empty for an admin", () => {
    const published = { any: config("/any") };
    expect(outOfBounds(operator("admin"), "any", { published, restored: null })).toEqual([]);
  });

  test("contains the address that a restore sets, if the publisher has no urls", () => {
    const keeper = operator("publisher", { urls: [] });
    const published = { "own-a": config("/own") };
    expect(outOfBounds(keeper, "own-a", { published, restored: null })).toEqual([]);
    expect(outOfBounds(keeper, "own-a", { published, restored: config("/own") })).toEqual([
      { service: "own-a", url: "http://own:1" },
    ]);
  });

  test("contains the address and the shared policy of another service", () => {
    const shared = { rate_limits: { partner: { requests: 1, window_seconds: 1, shared: true } } };
    const published = { other: { ...config("/other"), ...shared } };
    const restored = { ...config("/own"), ...shared };
    const team = operator("publisher", { services: ["own-*"], urls: ["http://own:*"] });
    expect(outOfBounds(team, "own-a", { published, restored })).toEqual([
      { service: "own-a", url: "http://own:1" },
      { service: "own-a", policy: "partner" },
    ]);
  });
});
