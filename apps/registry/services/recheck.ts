import { inSlices, Loop } from "@ostiary/lib/async";
import type { Services } from "@ostiary/lib/contracts/registry-api";
import type { FieldError } from "@ostiary/lib/domain/errors";
import { validateService } from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Changes, readChanges } from "../lookup/queries.ts";
import { readServices } from "./queries.ts";
import type { CurrentService } from "./service.ts";

/** What the check may take of the time of requests before they have their turn. */
const SLICE_MS = 5;
const RETRY_MS = 1_000;
const NAMES_IN_LOG_MAX = 20;

interface Checked {
  readonly revision: number;
  /** What is wrong; empty for a valid service. */
  readonly faults: FieldError[];
}

/**
 * Checks the current services by today's rules, as a restore of them would: what an earlier version took may be
 * refused now. Each revision is checked once, at boot or when it is first asked about.
 */
export class Recheck {
  readonly #database: Database;
  readonly #atBoot: Loop;
  #fence: number | undefined;
  #checked = new Map<string, Checked>();
  #checking: Promise<void> | null = null;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#atBoot = new Loop({
      task: async () => tell(await this.invalidServices(), log),
      retry_ms: RETRY_MS,
      onFailure: (err) => log.warn({ err }, "current services not checked; it will be tried again"),
    });
  }

  start(): void {
    this.#atBoot.start();
  }

  async stop(): Promise<void> {
    await this.#atBoot.stop();
  }

  /** The current services that are not valid, in the order of their names, and the faults of each. */
  async invalidServices(): Promise<Required<Services>> {
    // one check under way may have begun before the latest write
    await this.#checking?.catch(() => {});
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
    const found = [...this.#checked]
      .filter(([, { faults }]) => faults.length > 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    const names = found.map(([name]) => name);
    const current = await this.#database.run("select_services", (orm) => readServices(orm, names));
    const invalid = found.filter(([name, { revision }]) => current.get(name)?.revision === revision);
    return {
      services: Object.fromEntries(invalid.flatMap(([name]) => configOf(name, current))),
      invalid: Object.fromEntries(invalid.map(([name, { faults }]) => [name, faults])),
    };
  }

  async #check(): Promise<void> {
    const changes = await readChanges(this.#database, this.#fence);
    if (changes === null) return;
    const checked = new Map(changes.is_whole ? [] : this.#checked);
    await inSlices(this.#checkEach(changes, checked), { slice_ms: SLICE_MS });
    this.#checked = checked;
    this.#fence = changes.fence;
  }

  *#checkEach({ services, deleted }: Changes, checked: Map<string, Checked>): Generator<void, void> {
    for (const { name, revision, config } of services) {
      const known = this.#checked.get(name);
      checked.set(name, known?.revision === revision ? known : { revision, faults: faultsOf(name, config) });
      yield;
    }
    for (const name of deleted) checked.delete(name);
  }
}

function faultsOf(name: string, config: CurrentService["config"]): FieldError[] {
  const result = validateService(name, config);
  return result.ok ? [] : result.fields;
}

function configOf(name: string, current: ReadonlyMap<string, CurrentService>) {
  const service = current.get(name);
  return service === undefined ? [] : [[name, service.config] as const];
}

function tell({ invalid }: Required<Services>, log: Logger): void {
  const names = Object.keys(invalid);
  if (names.length === 0) return;
  log.warn(
    { services: names.slice(0, NAMES_IN_LOG_MAX), count: names.length },
    "current services would be refused by today's rules: GET /services?invalid=true tells why",
  );
}
