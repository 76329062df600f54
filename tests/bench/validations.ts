import { join } from "node:path";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Bench } from "./bench.ts";
import { type Goal, goalTable, judge } from "./measure/goals.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { pgbench, transactionsPerSecond } from "./measure/pgbench.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { ServiceBed, type ServiceProcess } from "./measure/service-bed.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const CLIENTS = 16;
/** Writers of one person wait for each other, so there are several. */
const PEOPLE = 64;
const KEYS_EACH = 32;
const JSON_TYPE = { "Content-Type": "application/json" };

const RATE: Goal = { title: "validations / pgbench -S, 16 clients", bound: 0.45 };
const CPU: Record<string, Goal> = {
  "GET user": { title: "GET user, µs of identity's CPU", bound: 75, at_most: true },
  "create key": { title: "create key, µs of identity's CPU", bound: 170, at_most: true },
};

/** What identity can do: validations that no gateway has cached, reads, and writes. */
export const validations: Bench = {
  summary: "identity: validations a second beside pgbench -S, and the CPU time of a read and a write",
  async run(options) {
    const { quick, progress } = options;
    const machine = describeMachine();
    await using bed = new ServiceBed(["wrk", "pgbench"]);
    const { url } = await bed.database();
    const identity = await bed.process("apps/identity/main.ts", { DATABASE_URL: url });
    progress(`making ${whole(PEOPLE * KEYS_EACH)} keys`);
    const { people, bodies } = await makeKeys(identity, await bed.directory());
    await pgbench(["--initialize", "--quiet", "--scale", "10"], url);
    const plan = quick ? { rounds: 2, seconds: 2 } : { rounds: 7, seconds: 4 };
    const measured = await inRounds(waysOf(identity, people, bodies), plan, options);
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
    const rows = measured.map((way) => [
      way.title,
      whole(spreadOf(valuesOf(way, "requests_per_second")).median),
      spreadOf(valuesOf(way, "p50_ms")).median.toFixed(2),
      spreadOf(valuesOf(way, "p99_ms")).median.toFixed(2),
      whole(spreadOf(cpuMicroseconds(way)).median),
    ]);
    const text = [
      machineLine(machine),
      `${plan.rounds} rounds of ${plan.seconds} s, ${CLIENTS} clients; identity, load and PostgreSQL share the machine`,
      "",
      table(["", "requests/s", "p50 ms", "p99 ms", "µs of CPU each"], rows),
      `pgbench -S: ${whole(spreadOf(selects).median)} transactions/s`,
      "",
      goalTable(goals),
    ].join("\n");
    return { text, goals, data: { machine, plan, measured, selects, goals } };
  },
};

function cpuMicroseconds(way: MeasuredWay): number[] {
  return valuesOf(way, "requests_per_cpu_second").map((rate) => 1e6 / rate);
}

function waysOf({ pid, url, internal_url }: ServiceProcess, people: string[], bodies: Bodies): Way[] {
  const way = (title: string, target: Omit<Way["target"], "pid" | "headers">): Way => ({
    title,
    connections: CLIENTS,
    target: { pid, headers: JSON_TYPE, ...target },
  });
  return [
    way("validate", { url: internal_url, method: "POST", paths: [VALIDATE_PATH], bodies: bodies.validate }),
    way("GET user", { url, paths: people.map((id) => `/users/${id}`) }),
    way("create key", {
      url,
      method: "POST",
      paths: people.map((id) => `/users/${id}/api-keys`),
      bodies: bodies.create,
    }),
  ];
}

/** Files with a request body on each line. */
interface Bodies {
  readonly validate: string;
  readonly create: string;
}

const answerOfIdp = Type.Object({ user_id: Type.String() });
const answerOfCreate = Type.Object({ key: Type.String() });

/** People with so many keys each; what is validated is another key each time. */
async function makeKeys(
  identity: ServiceProcess,
  directory: string,
): Promise<{ people: string[]; bodies: Bodies }> {
  const people = await Promise.all(Array.from({ length: PEOPLE }, (_, index) => makePerson(identity, index)));
  const lines: string[] = [];
  for (let round = 0; round < KEYS_EACH; round++) {
    const made = people.map((id) => post(`${identity.url}/users/${id}/api-keys`, { name: "bench" }));
    for (const answer of await Promise.all(made)) {
      lines.push(JSON.stringify({ credential: Value.Parse(answerOfCreate, answer).key }));
    }
  }
  const bodies = { validate: join(directory, "validate"), create: join(directory, "create") };
  await Bun.write(bodies.validate, `${lines.join("\n")}\n`);
  await Bun.write(bodies.create, `${JSON.stringify({ name: "bench" })}\n`);
  return { people, bodies };
}

async function makePerson({ internal_url }: ServiceProcess, index: number): Promise<string> {
  const idp = { issuer: "https://login.example.com", subject: `bench-${index}` };
  return Value.Parse(answerOfIdp, await post(`${internal_url}${VALIDATE_PATH}`, { idp })).user_id;
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
