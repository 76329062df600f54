import type { Random } from "../../support/random.ts";
import { runSql } from "../../support/stores/sql.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { type Replica, statusOf } from "../faults/system/replica.ts";
import type { System } from "../faults/system/system.ts";
import type { Gap } from "./judge.ts";
import type { Way } from "./way.ts";

const READY_MS = 60_000;
/** The delay of a response about changes with which a gateway still counts as one that reaches identity. */
const SHORT_MS = 650;

export interface Field {
  readonly system: System;
  readonly ways: readonly [Way, Way];
  readonly gaps: Gap[];
  readonly random: Random;
}

/** A fault, which resolves with its name when it is over. */
export type Fault = () => Promise<string>;

/** Returns all faults in a random order. Validations are held up more often than all else, because that shows most. */
export function shuffledFaults(field: Field): Fault[] {
  const { system, random } = field;
  const [first, second] = system.identity;
  if (first === undefined || second === undefined) throw new Error("Identity does not run.");
  const replica = () => random.pick([first, second]);
  const gateway = () => random.below(2);
  const lengthMs = () => 2_000 + random.below(4_000);
  const faults: Fault[] = [
    () => killed(system, replica(), lengthMs()),
    () => frozen(system, replica(), lengthMs()),
    () => heldValidations(field, "request", 3_000 + lengthMs()),
    () => heldValidations(field, "response", 3_000 + lengthMs()),
    () => heldValidations(field, "response", 3_000 + lengthMs()),
    () => slowChanges(field, gateway(), lengthMs()),
    () => heldChanges(field, gateway(), lengthMs()),
    () => cut(field, gateway(), lengthMs() * 2, "cut"),
    () => cut(field, gateway(), lengthMs() * 2, "swallow"),
    () => brokenConnections(system),
    () => databaseAway(field, lengthMs() / 3),
  ];
  return faults
    .map((fault) => ({ fault, place: random.below(2 ** 31) }))
    .sort((one, other) => one.place - other.place)
    .map(({ fault }) => fault);
}

async function killed(system: System, replica: Replica, ms: number): Promise<string> {
  await replica.server.kill();
  await Bun.sleep(ms);
  await replica.server.start();
  await system.noticed(replica);
  return `${replica.name} killed`;
}

async function frozen(system: System, replica: Replica, ms: number): Promise<string> {
  await replica.server.freeze();
  await Bun.sleep(ms);
  await replica.server.thaw();
  await system.noticed(replica);
  return `${replica.name} frozen`;
}

/** Holds up validations before or behind identity, while changes arrive in time. */
async function heldValidations(
  { ways, random }: Field,
  direction: "request" | "response",
  ms: number,
): Promise<string> {
  const delayMs = 2_500 + random.below(2_500);
  for (const { delays } of ways) delays.validations[direction] = delayMs;
  await Bun.sleep(ms);
  for (const { delays } of ways) delays.validations[direction] = 0;
  return `${direction}s of validations held up for ${delayMs} ms`;
}

async function slowChanges(field: Field, gateway: number, ms: number): Promise<string> {
  const { changes } = wayOf(field, gateway).delays;
  changes.response = SHORT_MS;
  await Bun.sleep(ms);
  changes.response = 0;
  return `changes late by ${SHORT_MS} ms at gateway ${gateway + 1}`;
}

async function heldChanges(field: Field, gateway: number, ms: number): Promise<string> {
  const { changes } = wayOf(field, gateway).delays;
  return await withoutContact(field, [gateway], async () => {
    changes.response = 3_000;
    await Bun.sleep(ms);
    changes.response = 0;
    return `changes held up at gateway ${gateway + 1}`;
  });
}

async function cut(field: Field, gateway: number, ms: number, how: "cut" | "swallow"): Promise<string> {
  const { link } = wayOf(field, gateway);
  return await withoutContact(field, [gateway], async () => {
    link[how]();
    await Bun.sleep(ms);
    link.heal();
    return `gateway ${gateway + 1} ${how === "cut" ? "cut off" : "without responses"} for ${ms} ms`;
  });
}

/** Ends all connections at the database, which accepts new ones at once. */
async function brokenConnections({ postgres: { server } }: System): Promise<string> {
  await runSql(
    server.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
  return "database connections broken";
}

async function databaseAway(field: Field, ms: number): Promise<string> {
  const { postgres: database, identity } = field.system;
  return await withoutContact(field, [0, 1], async () => {
    database.link.cut();
    await Bun.sleep(ms);
    database.link.heal();
    for (const { internalUrl, name } of identity) {
      const isReady = async () => (await statusOf(`${internalUrl}/health/ready`)) === 200;
      await waitFor(isReady, { timeoutMs: READY_MS, what: `the readiness of ${name}` });
    }
    for (const replica of identity) await field.system.noticed(replica);
    return "database away";
  });
}

/** Notes that gateways do not reach identity during `work`. */
async function withoutContact<T>(
  { gaps }: Field,
  gateways: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  const fromMs = performance.now();
  const added = gateways.map((gateway): Gap => ({ gateway, fromMs, toMs: Number.POSITIVE_INFINITY }));
  gaps.push(...added);
  const result = await work();
  for (const gap of added) gap.toMs = performance.now();
  return result;
}

function wayOf({ ways: [first, second] }: Field, gateway: number): Way {
  return gateway === 0 ? first : second;
}
