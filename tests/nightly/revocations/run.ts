import { Random } from "../../support/random.ts";
import { ROOT } from "../../support/root.ts";
import { CLIENTS_PROCESS, SchedulingDelay } from "../faults/scheduling-delay.ts";
import { type Progress, System } from "../faults/system/system.ts";
import { ChangingOrganization } from "./changing-organization.ts";
import { type Field, shuffledFaults } from "./faults.ts";
import { type Bounds, type Judgement, judge, narrate } from "./judge.ts";
import { publishWatched, Uses } from "./uses.ts";
import { openWay, type Way } from "./way.ts";

const ORGANIZATIONS = 3;
const OPERATIONS = 14;
const PAUSE_MS = 2_000;
const BETWEEN_FAULTS_MS = 2_500;
/** The time for which a deleted organization is still used. */
const TAIL_MS = 5_000;
const TTL_S = 8;
const VARIABLES = { APIKEY_CACHE_TTL_SECS: String(TTL_S), VALIDATE_TIMEOUT_MS: "6000" };

export interface Result extends Omit<Judgement, "broken"> {
  readonly histories: number;
  /** The history of each credential that broke the promise. */
  readonly broken: readonly string[];
  /** The numbers of operations and faults, by name. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Changes admissions and uses credentials at two gateways, while faults come and go, and judges each use.
 *
 * @throws RunImpossible if PostgreSQL, Redis or etcd is not installed
 */
export async function runRevocations(seed: number, ms: number, progress: Progress): Promise<Result> {
  await using ends = new AsyncDisposableStack();
  const ways: Way[] = [];
  const wayToIdentity = async (gateway: number, balanced: string) => {
    const way = await openWay(balanced);
    ends.defer(() => way.close());
    ways[gateway] = way;
    return way.url;
  };
  await using system = await System.start(progress, {
    roots: [ROOT, ROOT],
    variables: VARIABLES,
    wayToIdentity,
  });
  await publishWatched(system);
  const [first, second] = ways;
  if (first === undefined || second === undefined) throw new Error("A gateway has no way to identity.");
  using delay = new SchedulingDelay(() => system.pids());
  const random = new Random(seed);
  const run = new Run({ system, ways: [first, second], gaps: [], random }, delay, progress);
  await run.until(performance.now() + ms);
  return run.result;
}

class Run {
  readonly #field: Field;
  readonly #progress: Progress;
  readonly #bounds: Bounds;
  readonly #counts = new Map<string, number>();
  readonly #judgements: Judgement[] = [];
  readonly #broken: string[] = [];

  constructor(field: Field, delay: SchedulingDelay, progress: Progress) {
    this.#field = field;
    this.#progress = progress;
    const { identity } = field.system;
    const others = [CLIENTS_PROCESS, "postgres", ...identity.map(({ name }) => name)];
    this.#bounds = {
      gaps: field.gaps,
      ttlMs: TTL_S * 1000,
      delayMs: (gateway, fromMs, toMs) => delay.between(fromMs, toMs, [`gateway ${gateway + 1}`, ...others]),
    };
  }

  get result(): Result {
    const sum = (field: "decided" | "cutOff" | "delayed") =>
      this.#judgements.reduce((total, each) => total + each[field], 0);
    return {
      histories: this.#judgements.length,
      decided: sum("decided"),
      cutOff: sum("cutOff"),
      delayed: sum("delayed"),
      latestMs: Math.max(0, ...this.#judgements.map(({ latestMs }) => latestMs)),
      broken: this.#broken,
      counts: this.#counts,
    };
  }

  async until(endMs: number): Promise<void> {
    const goesOn = () => performance.now() < endMs;
    const organizations = Array.from({ length: ORGANIZATIONS }, async (_, number) => {
      const random = new Random(this.#field.random.below(2 ** 31) + number);
      while (goesOn()) await this.#liveThrough(random, goesOn);
    });
    await Promise.all([...organizations, this.#disturb(goesOn)]);
  }

  async #disturb(goesOn: () => boolean): Promise<void> {
    let faults = shuffledFaults(this.#field);
    while (goesOn()) {
      const [fault, ...left] = faults;
      faults = left.length > 0 ? left : shuffledFaults(this.#field);
      const name = (await fault?.()) ?? "no fault";
      this.#progress(name);
      this.#count(name.replaceAll(/ for \d+ ms| at gateway \d| \d$|(?<=^gateway) \d|(?<=^identity) \d/g, ""));
      await Bun.sleep(BETWEEN_FAULTS_MS);
    }
  }

  /** Founds an organization, changes it step by step up to its deletion, and judges its credentials. */
  async #liveThrough(random: Random, goesOn: () => boolean): Promise<void> {
    const organization = await ChangingOrganization.found(this.#field.system, random);
    {
      await using _uses = new Uses(this.#field.system, organization);
      for (let left = OPERATIONS; left > 0 && organization.untilMs === Number.POSITIVE_INFINITY; left -= 1) {
        await Bun.sleep(random.chance(40) ? 100 : random.below(PAUSE_MS));
        this.#count(await organization.operate(left === 1 || !goesOn()));
        if (!goesOn()) break;
      }
      if (organization.untilMs === Number.POSITIVE_INFINITY) await Bun.sleep(TAIL_MS);
    }
    for (const credential of organization.credentials) {
      const uses = credential.uses.filter(({ respondedMs }) => respondedMs < organization.untilMs);
      const judgement = judge({ ...credential, uses }, this.#bounds);
      this.#judgements.push(judgement);
      const [broken] = judgement.broken;
      if (broken !== undefined) this.#broken.push(narrate(credential, broken, this.#field.gaps));
    }
    this.#progress(`${this.#judgements.length} histories, ${this.#broken.length} broken`);
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
