import { resultInSlices } from "@ostiary/lib/async";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import {
  failureOf,
  parsedPath,
  type Roles,
  RouteTableBuilder,
  type RouteTest,
  testFailed,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { type CurrentTests, readTests, type Snapshot } from "../lookup/current-table.ts";
import { type Changes, readChanges } from "../lookup/lookup-sql.ts";
import type { Writes } from "../operators/write-permission.ts";
import { hasTests } from "./publishing-sql.ts";

/** The time that a check may block the event loop before other work runs. */
const SLICE_MS = 5;
/** The number of nodes that a check may visit while other writers wait. It takes about 10 ms. */
const NODES_OF_WRITER_MAX = 200_000;
/** The number of nodes that can be visited in the time in which one route is added to a table. */
const NODES_OF_ROUTE = 100;

/** The dependencies of a check. */
export interface TestedRoutes {
  readonly database: Pick<Database, "run">;
  /** The published routes and tests. */
  readonly current: { snapshot(): Promise<Snapshot> };
  /** The roles that tests may name. */
  readonly roles: Roles;
}

/** A test that a write breaks. */
interface BrokenTest {
  readonly service: string;
  readonly index: number;
  readonly message: string;
}

/** The published routes have changed since the check of a write, and a new check is too much work for a writer. */
export class CheckIsStale extends Error {}

/** The number of nodes that a check may still visit. */
class Budget {
  #left: number;

  constructor(nodes: number) {
    this.#left = nodes;
  }

  /** @throws CheckIsStale when the budget is exhausted */
  spend(nodes: number): void {
    this.#left -= nodes;
    if (this.#left < 0) throw new CheckIsStale();
  }

  /** Spends what adding one route takes at each step. */
  *perRoute<Result>(steps: Generator<void, Result>): Generator<void, Result> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      this.spend(NODES_OF_ROUTE);
      yield;
    }
  }
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * Checks the route tests of a write (RG-148). All tests of the written services must pass. A test of another
 * service must pass if it passed before the write.
 *
 * The check runs before the write becomes the only writer, against a snapshot, because tests and routes can
 * be many. The writer then only looks for changes since the snapshot.
 */
export class RouteTestCheck {
  /** The snapshot, or null if no service had tests. */
  readonly #snapshot: Snapshot | null;
  readonly #writes: Writes;
  readonly #roles: Roles;
  readonly #broken: readonly BrokenTest[];

  private constructor(
    snapshot: Snapshot | null,
    { writes, roles, broken }: { writes: Writes; roles: Roles; broken: readonly BrokenTest[] },
  ) {
    this.#snapshot = snapshot;
    this.#writes = writes;
    this.#roles = roles;
    this.#broken = broken;
  }

  static async of({ database, current, roles }: TestedRoutes, writes: Writes): Promise<RouteTestCheck> {
    const isNeeded = ownTests(writes).length > 0 || (await database.run("select_has_tests", hasTests));
    if (!isNeeded) return new RouteTestCheck(null, { writes, roles, broken: [] });
    const snapshot = await current.snapshot();
    const check = brokenTests(snapshot, { writes, roles, budget: new Budget(UNLIMITED) });
    const broken = await resultInSlices(check, { sliceMs: SLICE_MS });
    return new RouteTestCheck(snapshot, { writes, roles, broken });
  }

  /**
   * Throws a 422 with the name of each test that `writes` break. Runs in the transaction of the write.
   * With `isLast` the caller would rather wait for a check than start again. `pathPrefix` returns the text that
   * precedes `tests` in the path of an error.
   *
   * @throws CheckIsStale if services have changed, unless a new check is little work or `isLast` is set
   */
  async refuseBroken(
    tx: Orm,
    writes: Writes,
    { isLast, pathPrefix = inDocument }: { isLast: boolean; pathPrefix?: (service: string) => string },
  ): Promise<void> {
    const broken = await this.#brokenNow(tx, writes, isLast);
    const fields: FieldError[] = broken.map(({ service, index, message }) => {
      const prefix = writes.has(service) ? pathPrefix(service) : inDocument(service);
      return { path: `${prefix}tests[${index}]`, message };
    });
    if (fields.length > 0) throw validationError(fields);
  }

  async #brokenNow(tx: Orm, writes: Writes, isLast: boolean): Promise<readonly BrokenTest[]> {
    if (this.#snapshot === null) {
      if (ownTests(writes).length === 0 && !(await hasTests(tx))) return [];
      if (!isLast) throw new CheckIsStale();
    }
    const changes = await readChanges(tx, this.#snapshot?.fence);
    const isCurrent = changes === null || (changes.services.length === 0 && changes.deleted.length === 0);
    if (isCurrent && this.#snapshot !== null && hasSameNames(writes, this.#writes)) return this.#broken;
    const budget = new Budget(isLast ? UNLIMITED : NODES_OF_WRITER_MAX);
    const check = brokenTestsAfter(this.#snapshot, changes, { writes, roles: this.#roles, budget });
    return resultInSlices(check, { sliceMs: SLICE_MS });
  }
}

function inDocument(service: string): string {
  return `services.${service}.`;
}

/** A write, and the budget of its check. */
interface Checked {
  readonly writes: Writes;
  readonly roles: Roles;
  readonly budget: Budget;
}

/** A test, with its index in the list of its service. */
interface PlacedTest {
  readonly service: string;
  readonly index: number;
  readonly test: RouteTest;
}

function ownTests(writes: Writes): PlacedTest[] {
  return [...writes].flatMap(([service, config]) =>
    (config?.tests ?? []).map((test, index) => ({ service, index, test })),
  );
}

function* otherTests(tests: CurrentTests, writes: Writes): Generator<PlacedTest> {
  for (const [service, listed] of tests) {
    if (writes.has(service)) continue;
    for (const [index, test] of listed.entries()) if (test !== null) yield { service, index, test };
  }
}

function hasSameNames(one: Writes, other: Writes): boolean {
  return one.size === other.size && one.keys().every((name) => other.has(name));
}

/** Returns the tests that a write breaks after `changes` since a snapshot. Does not change the snapshot. */
function* brokenTestsAfter(
  snapshot: Snapshot | null,
  changes: Changes | null,
  checked: Checked,
): Generator<void, BrokenTest[]> {
  const isWhole = snapshot === null || changes?.isWhole === true;
  const builder = isWhole ? new RouteTableBuilder() : snapshot.builder.fork();
  const tests = new Map(isWhole ? [] : snapshot.tests);
  const { budget } = checked;
  for (const { name, config, tests: listed } of changes?.services ?? []) {
    const result = yield* budget.perRoute(validateStoredInSteps(name, config));
    tests.delete(name);
    yield* budget.perRoute(result.ok ? builder.put(name, result.service) : builder.delete(name));
    if (result.ok && Array.isArray(listed)) tests.set(name, readTests(listed));
  }
  for (const name of changes?.deleted ?? []) {
    tests.delete(name);
    yield* budget.perRoute(builder.delete(name));
  }
  return yield* brokenTests({ builder, tests }, checked);
}

function* brokenTests(
  { builder, tests }: Pick<Snapshot, "builder" | "tests">,
  { writes, roles, budget }: Checked,
): Generator<void, BrokenTest[]> {
  const changed = builder.fork();
  for (const [name, config] of writes) {
    yield* budget.perRoute(config === null ? changed.delete(name) : changed.put(name, config));
  }
  const [before, after] = [builder.take(), changed.take()];
  const ownBefore = yield* budget.perRoute(builder.only(writes.keys()));
  const ownAfter = yield* budget.perRoute(changed.only(writes.keys()));
  const broken: BrokenTest[] = [];
  for (const { service, index, test } of ownTests(writes)) {
    yield;
    const failure = failureOf(test, after, roles);
    budget.spend(after.steps);
    if (failure !== null) broken.push({ service, index, message: testFailed(test, failure) });
  }
  for (const { service, index, test } of otherTests(tests, writes)) {
    yield;
    const path = parsedPath(test.path);
    const isAffected = ownBefore.touches(test.method, path) || ownAfter.touches(test.method, path);
    budget.spend(ownBefore.steps + ownAfter.steps);
    if (!isAffected) continue;
    const failure = failureOf(test, after, roles);
    budget.spend(after.steps);
    if (failure === null || failureOf(test, before, roles) !== null) continue;
    broken.push({ service, index, message: testFailed(test, failure) });
  }
  return broken;
}
