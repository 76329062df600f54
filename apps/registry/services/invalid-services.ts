import { inSlices, Loop } from "@ostiary/lib/async";
import type { Services } from "@ostiary/lib/contracts/registry-api";
import type { FieldError } from "@ostiary/lib/domain/errors";
import { validateService } from "@ostiary/lib/domain/routes";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Changes, readChanges } from "../lookup/sql.ts";
import { showServices } from "./service.ts";
import { readServices } from "./sql.ts";

/** The time that the check may block the event loop before requests run. */
const SLICE_MS = 5;
const RETRY_MS = 1_000;
const NAMES_IN_LOG_MAX = 20;

/** The current services that today's rules refuse, with the reasons. */
type InvalidServices = Services & Required<Pick<Services, "invalid">>;

interface Checked {
  readonly revision: number;
  /** The violations. The list is empty for a valid service. */
  readonly violations: FieldError[];
}

/**
 * Checks the current services by today's rules, as a restore would. The rules may refuse a config that an earlier
 * version of Ostiary accepted. Each revision is checked once, at boot or when `invalidServices` first needs it.
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
      retryMs: RETRY_MS,
      onFailure: (err) =>
        log.warn({ err }, "the registry could not check the current services and will try again"),
    });
  }

  start(): void {
    this.#atBoot.start();
  }

  async stop(): Promise<void> {
    await this.#atBoot.stop();
  }

  /**
   * Returns the current services that are not valid, in the order of their names, with the violations of
   * each.
   */
  async invalidServices(): Promise<InvalidServices> {
    // a check in progress may have begun before the latest write
    await this.#checking?.catch(() => {});
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
    const found = [...this.#checked]
      .filter(([, { violations }]) => violations.length > 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    const names = found.map(([name]) => name);
    const current = await this.#database.run("select_services", (orm) => readServices(orm, names));
    const invalid = found.filter(([name, { revision }]) => current.get(name)?.revision === revision);
    return {
      ...showServices(invalid.flatMap(([name]) => current.get(name) ?? [])),
      invalid: Object.fromEntries(invalid.map(([name, { violations }]) => [name, violations])),
    };
  }

  async #check(): Promise<void> {
    const fence = this.#fence;
    const changes = await this.#database.run("select_changes", (orm) => readChanges(orm, fence));
    if (changes === null) return;
    const checked = new Map(changes.isWhole ? [] : this.#checked);
    await inSlices(this.#checkEach(changes, checked), { sliceMs: SLICE_MS });
    this.#checked = checked;
    this.#fence = changes.fence;
  }

  *#checkEach({ services, deleted }: Changes, checked: Map<string, Checked>): Generator<void, void> {
    for (const { name, revision, config } of services) {
      const known = this.#checked.get(name);
      checked.set(
        name,
        known?.revision === revision ? known : { revision, violations: violationsOf(name, config) },
      );
      yield;
    }
    for (const name of deleted) checked.delete(name);
  }
}

function violationsOf(name: string, config: unknown): FieldError[] {
  const result = validateService(name, config);
  return result.ok ? [] : result.fields;
}

function tell({ invalid }: InvalidServices, log: Logger): void {
  const names = Object.keys(invalid);
  if (names.length === 0) return;
  log.warn(
    { services: names.slice(0, NAMES_IN_LOG_MAX), count: names.length },
    "stored services break the rules of this version: GET /services?invalid=true says why",
  );
}
