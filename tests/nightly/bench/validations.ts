import { join } from "node:path";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Bench } from "./bench.ts";
import { Bed, type ServiceProcess } from "./measure/bed.ts";
import { type Goal, judge } from "./measure/goal-table.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { runTool } from "./measure/tool.ts";

const CLIENTS = 16;
/** The number of people that own keys. Creating keys of one person is serialized by a row lock. */
const PEOPLE = 64;
const KEYS_EACH = 32;
const JSON_TYPE = { "Content-Type": "application/json" };

const RATE: Goal = { title: "validations / pgbench -S, 16 clients", bound: 0.45 };
const PEPPERED = "validate, peppered";
/** The goal for the additional cost of a pepper: an HMAC, and the lookup of a second hash. */
const PEPPER: Goal = {
  title: "validations with a pepper / without, µs of identity's CPU",
  bound: 1.03,
  at_most: true,
};
const CPU: Record<string, Goal> = {
  "GET user": { title: "GET user, µs of identity's CPU", bound: 75, at_most: true },
  "create key": { title: "create key, µs of identity's CPU", bound: 170, at_most: true },
};

/** Measures the identity service: validations that no gateway has cached, a read and a write. */
export const validations: Bench = {
  summary: "identity: validations a second compared with pgbench -S, and the CPU time of a read and a write",
  async run(options) {
    const { quick, progress } = options;
    await using bed = new Bed(["wrk", "pgbench"]);
    const { url } = await bed.database();
    const start = (env: Record<string, string>) =>
      bed.process("apps/identity/main.ts", { DATABASE_URL: url, ...env });
    const identity = await start({});
    const peppered = await start({ SECRET_PEPPER: crypto.randomUUID() });
    progress(`creating ${whole(2 * PEOPLE * KEYS_EACH)} keys`);
    const people = await makePeople(identity);
    const directory = temporaryFolder("bench");
    const bodies = {
      create: await writeLines(join(directory, "create"), [JSON.stringify({ name: "bench" })]),
      plain: await writeLines(join(directory, "plain"), await makeKeys(identity, people)),
      peppered: await writeLines(join(directory, "peppered"), await makeKeys(peppered, people)),
    };
    await pgbench(["--initialize", "--quiet", "--scale", "10"], url);
    const plan = quick ? { rounds: 2, seconds: 2 } : { rounds: 7, seconds: 4 };
    const measured = await inRounds(waysOf({ identity, peppered }, people, bodies), plan, options);
    const selects: number[] = [];
    for (let round = 1; round <= plan.rounds; round++) {
      const select = ["--select-only", "--no-vacuum", "--client", String(CLIENTS)];
      selects.push(transactionsPerSecond(await pgbench([...select, "--time", String(plan.seconds)], url)));
      progress(`round ${round}/${plan.rounds}  pgbench -S: ${whole(selects.at(-1) ?? 0)}/s`);
    }
    const goals = measured.flatMap((way) => {
      if (way.title === "validate")
        return [judge(RATE, ratiosOf(valuesOf(way, "requests_per_second"), selects))];
      const goal = CPU[way.title];
      return goal === undefined ? [] : [judge(goal, spreadOf(cpuMicroseconds(way)))];
    });
    const [plain, withPepper] = ["validate", PEPPERED].map((title) =>
      measured.flatMap((way) => (way.title === title ? cpuMicroseconds(way) : [])),
    );
    goals.push(judge(PEPPER, ratiosOf(withPepper ?? [], plain ?? [])));
    const rows = measured.map((way) => [
      way.title,
      whole(spreadOf(valuesOf(way, "requests_per_second")).median),
      spreadOf(valuesOf(way, "p50_ms")).median.toFixed(2),
      spreadOf(valuesOf(way, "p99_ms")).median.toFixed(2),
      whole(spreadOf(cpuMicroseconds(way)).median),
    ]);
    const parts = [
      `${plan.rounds} rounds of ${plan.seconds} s, ${CLIENTS} clients; identity, load and PostgreSQL share the machine`,
      table(["", "requests/s", "p50 ms", "p99 ms", "µs of CPU each"], rows),
      `pgbench -S: ${whole(spreadOf(selects).median)} transactions/s`,
    ];
    return { parts, goals, data: { plan, measured, selects } };
  },
};

function pgbench(options: readonly string[], databaseUrl: string): Promise<string> {
  return runTool(["pgbench", ...options, databaseUrl]);
}

function transactionsPerSecond(output: string): number {
  const rate = /^tps = ([\d.]+)/m.exec(output)?.[1];
  if (rate === undefined) throw new Error(`The output of pgbench has no "tps": ${output}`);
  return Number(rate);
}

function cpuMicroseconds(way: MeasuredWay): number[] {
  return valuesOf(way, "requests_per_cpu_second").map((rate) => 1e6 / rate);
}

function waysOf(
  { identity, peppered }: Record<"identity" | "peppered", ServiceProcess>,
  people: string[],
  bodies: Bodies,
): Way[] {
  const way = (
    { pid }: ServiceProcess,
    title: string,
    target: Omit<Way["target"], "pid" | "headers">,
  ): Way => ({
    title,
    connections: CLIENTS,
    target: { pid, headers: JSON_TYPE, ...target },
  });
  const validate = (service: ServiceProcess, title: string, keys: string) =>
    way(service, title, { url: service.internalUrl, method: "POST", paths: [VALIDATE_PATH], bodies: keys });
  const { url } = identity;
  return [
    validate(identity, "validate", bodies.plain),
    validate(peppered, PEPPERED, bodies.peppered),
    way(identity, "GET user", { url, paths: people.map((id) => `/users/${id}`) }),
    way(identity, "create key", {
      url,
      method: "POST",
      paths: people.map((id) => `/users/${id}/api-keys`),
      bodies: bodies.create,
    }),
  ];
}

/** Files that have a request body on each line. */
interface Bodies {
  readonly create: string;
  /**
   * Validations of keys that are stored without a pepper; `peppered` has validations of keys that are stored
   * with a pepper.
   */
  readonly plain: string;
  readonly peppered: string;
}

async function writeLines(file: string, lines: readonly string[]): Promise<string> {
  await Bun.write(file, `${lines.join("\n")}\n`);
  return file;
}

const ValidatedPerson = Type.Object({ user_id: Type.String() });
const CreatedKey = Type.Object({ key: Type.String() });

function makePeople(identity: ServiceProcess): Promise<string[]> {
  return Promise.all(Array.from({ length: PEOPLE }, (_, index) => makePerson(identity, index)));
}

/** Creates {@link KEYS_EACH} keys for each person, and returns request bodies that validate them. */
async function makeKeys(identity: ServiceProcess, people: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (let round = 0; round < KEYS_EACH; round++) {
    const made = people.map((id) => post(`${identity.url}/users/${id}/api-keys`, { name: "bench" }));
    for (const response of await Promise.all(made)) {
      lines.push(JSON.stringify({ credential: Value.Parse(CreatedKey, response).key }));
    }
  }
  return lines;
}

async function makePerson({ internalUrl }: ServiceProcess, index: number): Promise<string> {
  const idp = { issuer: "https://login.example.com", subject: `bench-${index}` };
  return Value.Parse(ValidatedPerson, await post(`${internalUrl}${VALIDATE_PATH}`, { idp })).user_id;
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
  return response.json();
}
