import { expect, test } from "bun:test";
import { schemas } from "../../readmes/readmes.ts";

// OP-1
test.each([
  ["gateway", 5001, 8000],
  ["registry", 5002, 5003],
  ["identity", 3000, 3001],
  ["audit", 3002, 3003],
  ["portal", 3004, 3005],
])("%s listens on %i and %i by default, alone and on the platform", (service, port, internalPort) => {
  const defaultOf = (app: string, name: string) => schemas[app]?.properties[name]?.default;
  const prefix = service.toUpperCase();
  expect([defaultOf(service, "PORT"), defaultOf(service, "INTERNAL_PORT")]).toEqual([port, internalPort]);
  const onPlatform = [`${prefix}_PORT`, `${prefix}_INTERNAL_PORT`];
  expect(onPlatform.map((name) => defaultOf("platform", name))).toEqual([port, internalPort]);
});
