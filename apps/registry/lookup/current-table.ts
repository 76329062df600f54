import { inSlices, Semaphore } from "@ostiary/lib/async";
import { fits } from "@ostiary/lib/domain/errors";
import {
  type CompiledRoute,
  configuredBounds,
  type RouteTable,
  RouteTableBuilder,
  RouteTest,
  type StoredRoute,
  type StoredServiceConfig,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type Changes, readChanges } from "./lookup-sql.ts";

/** The tests of each service, in order. Null stands for a test that only a newer version of Ostiary can read. */
export type CurrentTests = ReadonlyMap<string, readonly (RouteTest | null)[]>;

/** The state at one fence. */
export interface Snapshot {
  readonly fence: number;
  /** A builder that starts from the route table. */
  readonly builder: RouteTableBuilder;
  readonly tests: CurrentTests;
}

/** The time that loading routes may block the event loop before other work runs. */
const SLICE_MS = 5;

/**
 * The route table of the current services in the database. A read first loads the writes since the last read. Like a
 * gateway, the table skips services whose config this version of Ostiary cannot read.
 */
export class CurrentTable {
  readonly #database: Database;
  readonly #taking = new Semaphore(1);
  #builder = new RouteTableBuilder();
  /** The fence of the last loaded write, or undefined before the first load. */
  #fence: number | undefined;
  #services: ReadonlyMap<string, StoredServiceConfig> = new Map();
  #incarnations: ReadonlyMap<string, number> = new Map();
  #tests: CurrentTests = new Map();
  #table: RouteTable = this.#builder.take();
  /** The number of the latest read. `#taken` is the number of the read whose changes were loaded last. */
  #asked = 0;
  #taken = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns a table with every change that was committed before the call. */
  async read(): Promise<RouteTable> {
    const asked = ++this.#asked;
    const fence = this.#fence;
    const changes = await this.#database.run("select_changes", (orm) => readChanges(orm, fence));
    if (changes === null) return this.#table;
    const isTaken = await this.#taking.run(() => this.#take(changes, asked));
    return isTaken ? this.#table : this.read();
  }

  /** Returns the current state, apart from later changes. */
  async snapshot(): Promise<Snapshot> {
    await this.read();
    const taken = await this.#taking.run(async () =>
      this.#fence === undefined
        ? null
        : { fence: this.#fence, builder: this.#builder.fork(), tests: this.#tests },
    );
    return taken ?? this.snapshot();
  }

  /** Loads changes. Returns false if the changes extend a state that a failed load has dropped. */
  async #take(changes: Changes, asked: number): Promise<boolean> {
    if (asked < this.#taken) return true;
    if (!changes.isWhole) {
      if (this.#fence === undefined) return false;
      // loading older changes would mix two states
      if (changes.fence <= this.#fence) return true;
    }
    try {
      await inSlices(this.#takeIn(changes), { sliceMs: SLICE_MS });
    } catch (error) {
      // the previous table stays in use until the next read loads the whole state
      this.#builder = new RouteTableBuilder();
      this.#fence = undefined;
      throw error;
    }
    this.#taken = asked;
    this.#fence = changes.fence;
    this.#table = this.#builder.take();
    return true;
  }

  *#takeIn({ isWhole, services, deleted }: Changes): Generator<void> {
    const taken = new Map(this.#services);
    const incarnations = new Map(this.#incarnations);
    const tests = new Map(this.#tests);
    const gone = isWhole ? new Set(taken.keys()) : new Set(deleted);
    for (const { name, incarnation, config: stored, tests: listed } of services) {
      tests.delete(name);
      const result = yield* validateStoredInSteps(name, stored);
      if (!result.ok) {
        gone.add(name);
        continue;
      }
      gone.delete(name);
      yield* this.#builder.put(name, result.service);
      taken.set(name, result.service);
      if (Array.isArray(listed)) tests.set(name, readTests(listed));
      incarnations.set(name, incarnation);
    }
    for (const name of gone) {
      yield* this.#builder.delete(name);
      taken.delete(name);
      incarnations.delete(name);
      tests.delete(name);
    }
    this.#services = taken;
    this.#incarnations = incarnations;
    this.#tests = tests;
  }

  /** The fence of the last write that {@link read} has loaded. */
  get fence(): number | undefined {
    return this.#fence;
  }

  /** The services that {@link read} has loaded, by name. */
  get services(): ReadonlyMap<string, StoredServiceConfig> {
    return this.#services;
  }

  /** A number that changes when a service is deleted and created again. */
  incarnationOf(service: string): number | undefined {
    return this.#incarnations.get(service);
  }

  /** The table that {@link read} returned last. */
  get table(): RouteTable {
    return this.#table;
  }

  /**
   * Returns the stored route from which a route of the table was compiled, with the bounds that it takes from its
   * service.
   */
  rowOf({ service, scope, method, path }: CompiledRoute): StoredRoute | undefined {
    const config = this.#services.get(service);
    const row = config?.[scope]?.routes.find((each) => each.path === path && each.methods.includes(method));
    return config && row && { ...row, ...configuredBounds(config, row) };
  }
}

/** Returns the tests of a service as stored, with null for a test that only a newer version of Ostiary can read. */
export function readTests(listed: readonly unknown[]): (RouteTest | null)[] {
  return listed.map((test) => (fits(RouteTest, test) ? test : null));
}
