import { expect, test } from "bun:test";
import { join } from "node:path";
import { countRoutes, SCOPES, validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";
import { countScopes, routeRows, serviceRows } from "../../../apps/console/routes/rows.ts";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import { ROOT } from "../../support/root.ts";

test("the console and gateways count the same routes, one for each method of a path", async () => {
  const catalogs = ["identity", "audit", "demo"].map(async (name) => {
    const valid = validateDocument(parse(await Bun.file(join(ROOT, `seeds/${name}.yaml`)).text()));
    if (!valid.ok) throw new Error(`${name}.yaml is not valid.`);
    return [...valid.services];
  });
  const services = new Map((await Promise.all(catalogs)).flat());
  const served = buildRouteTable(services).counts.routes;
  const rows = routeRows(Object.fromEntries(services));
  expect(served).toBeGreaterThan(rows.length);
  expect(countRoutes(rows)).toBe(served);
  const sum = (counts: Record<string, number>) =>
    SCOPES.reduce((all, scope) => all + (counts[scope] ?? 0), 0);
  expect(sum(countScopes(rows))).toBe(served);
  expect(serviceRows(Object.fromEntries(services)).reduce((all, { counts }) => all + sum(counts), 0)).toBe(
    served,
  );
});
