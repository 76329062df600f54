import { inSlices } from "@ostiary/lib/async";
import { type FieldError, fits, validationError } from "@ostiary/lib/domain/errors";
import {
  failureOf,
  foldedSegments,
  matchTest,
  parsedPath,
  type Roles,
  type RouteTable,
  RouteTableBuilder,
  RouteTest,
  testFailed,
} from "@ostiary/lib/domain/routes";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Writes } from "../operators/write-permission.ts";
import { readServices } from "../services/sql.ts";
import { type Configs, otherOwnersOnPaths, otherTests } from "./sql.ts";

/** The time that building tables may block the event loop before other work runs. */
const SLICE_MS = 5;

/** A test of a current service. */
interface Kept {
  readonly service: string;
  readonly index: number;
  readonly test: RouteTest;
}

/**
 * Refuses a write that makes a test fail (RG-148). All tests of the written services must pass. A test of
 * another service must pass if it passed before the write.
 *
 * @param pathPrefix returns the text that precedes `tests` in the path of an error
 * @throws ApiError 422 with the name of each failing test
 */
export async function refuseBrokenTests(
  orm: Orm,
  { rewritten, roles }: { rewritten: Writes; roles: Roles },
  pathPrefix: (service: string) => string = (service) => `services.${service}.`,
): Promise<void> {
  const after = new Map(
    [...rewritten].flatMap(([name, config]) => (config === null ? [] : [[name, config]])),
  );
  const own = [...after].flatMap(([service, { tests = [] }]) =>
    tests.map((test, index) => ({ service, index, test })),
  );
  const others = await readOtherTests(orm, [...rewritten.keys()]);
  if (own.length === 0 && others.length === 0) return;
  const before = await currentConfigs(orm, [...rewritten.keys()]);
  const touched = await touchedBy([before, after], others);
  const around = await configsAround(orm, [...own, ...touched], [...rewritten.keys()]);
  const [tableBefore, tableAfter] = [await tableOf(around, before), await tableOf(around, after)];
  const passedBefore = touched.filter(({ test }) => failureOf(test, tableBefore, roles) === null);
  const fields: FieldError[] = [
    ...failures(own, tableAfter, roles, pathPrefix),
    ...failures(passedBefore, tableAfter, roles, (service) => `services.${service}.`),
  ];
  if (fields.length > 0) throw validationError(fields);
}

async function readOtherTests(orm: Orm, names: readonly string[]): Promise<Kept[]> {
  const kept = await otherTests(orm, names);
  // leaves out a test that only a newer version of Ostiary can read: a registry of that version checks it
  return kept.flatMap(({ service, index, test }) =>
    fits(RouteTest, test) ? [{ service, index, test }] : [],
  );
}

async function currentConfigs(orm: Orm, names: readonly string[]): Promise<Configs> {
  const current = await readServices(orm, names);
  return new Map([...current].flatMap(([name, { config }]) => (config === null ? [] : [[name, config]])));
}

/** Returns the tests whose request matches a route of the services, before or after the write. */
async function touchedBy(states: readonly Configs[], tests: readonly Kept[]): Promise<Kept[]> {
  if (tests.length === 0) return [];
  const tables: RouteTable[] = [];
  for (const configs of states) tables.push(await tableOf(configs));
  return tests.filter(({ test }) => tables.some((table) => matchTest(test, table) !== null));
}

/** Returns the configs of the services other than `names` with a route that matches the request of a test. */
async function configsAround(orm: Orm, tests: readonly Kept[], names: readonly string[]): Promise<Configs> {
  const requests = new Map(
    tests.map(({ test: { method, path } }) => {
      const parsed = parsedPath(path);
      return [`${method} ${parsed}`, { method, segments: foldedSegments(parsed) }];
    }),
  );
  const owners = await otherOwnersOnPaths(orm, [...requests.values()], names);
  return owners.length === 0 ? new Map() : currentConfigs(orm, owners);
}

async function tableOf(...parts: Configs[]): Promise<RouteTable> {
  const builder = new RouteTableBuilder();
  for (const configs of parts) {
    for (const [name, config] of configs) await inSlices(builder.put(name, config), { sliceMs: SLICE_MS });
  }
  return builder.take();
}

function failures(
  tests: readonly Kept[],
  table: RouteTable,
  roles: Roles,
  pathPrefix: (service: string) => string,
): FieldError[] {
  return tests.flatMap(({ service, index, test }) => {
    const failure = failureOf(test, table, roles);
    if (failure === null) return [];
    return [{ path: `${pathPrefix(service)}tests[${index}]`, message: testFailed(test, failure) }];
  });
}
