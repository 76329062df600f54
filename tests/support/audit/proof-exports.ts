/** Exports of logs with everything that the format has, for tests and vectors. */

import { restartLine } from "@ostiary/lib/domain/tlog";
import { readLogKey, readWitnessKeys, type Verdict, type VerifyGiven } from "@ostiary/lib/verification";
import { fixedSigner, LogBuilder, logKeyText, ORIGIN, OWNER, witnessKeyText } from "./proof-log.ts";
import { kept } from "./verify-lines.ts";

/** An export, what its reader gives besides, and the right verdict. */
export interface TestExport {
  title: string;
  lines: string[];
  /** The texts of what the reader gives, as the command line takes them. */
  owner: string;
  keys: string[];
  roots: string[];
  witness_keys: string[];
  quorum: number;
  result: Verdict["result"];
}

/** A time after all cosignatures. */
export const NOW_MS = Date.parse("2026-06-01T00:00:00.000Z");

/** Returns what the reader of an export gives, as the verifier takes it. */
export async function givenOf(text: Omit<TestExport, "lines" | "title" | "result">): Promise<VerifyGiven> {
  const keys = text.keys.map(readLogKey).filter((key) => key !== null);
  const witnesses = text.witness_keys.length === 0 ? null : readWitnessKeys(text.witness_keys.join("\n"));
  return {
    owner: text.owner,
    keys: keys.length === 0 ? null : keys,
    roots: await Promise.all(text.roots.map((root, index) => kept(root, `root ${index + 1}`))),
    witnesses: witnesses && { keys: witnesses, quorum: text.quorum, nowMs: NOW_MS },
  };
}

export const PERSON = "user:ada";

const signers = {
  old: await fixedSigner(ORIGIN, "the old key of the log"),
  key: await fixedSigner(ORIGIN, "the key of the log"),
  first: await fixedSigner("witness.example.com/1", "the first witness"),
  second: await fixedSigner("witness.example.com/2", "the second witness"),
};
export const { key: KEY, first: WITNESS, old: OLD_KEY, second: SECOND_WITNESS } = signers;

/** Returns a log of two days with two organizations and a person. */
export function twoDays(keys = [KEY], origin = ORIGIN): LogBuilder {
  const log = new LogBuilder(keys, origin);
  const other = { organization_id: "zenith" };
  for (const day of ["2026-01-05", "2026-01-07"]) {
    log.write(`${day}T10:00:00.000Z`, {
      details: { name: { from: "é", to: "\u2028🚪" }, list: [1.5, null, true] },
    });
    log.write(`${day}T10:00:01.000Z`, other);
    log.write(`${day}T10:00:02.000Z`, {
      outcome: "no_response",
      status: null,
      details: null,
      created_id: null,
    });
    log.seal(`${day}T10:00:03.000Z`);
    log.write(`${day}T10:00:04.000Z`, { organization_id: null, user_id: "ada", actor: person(null) });
    const named = { named: { intent_member_id: null }, user_id: "ada", actor: person("member-7") };
    log.write(`${day}T10:00:05.000Z`, named);
    log.write(`${day}T10:00:06.000Z`, { pending: true });
    log.seal(`${day}T10:00:07.000Z`);
  }
  return log;
}

function person(member_id: string | null) {
  return { member_id, auth_type: "jwt" as const, key_prefix: null };
}

/** Returns a log whose first two months are dropped, with late outcomes around the ends of months. */
export function droppedMonths(): LogBuilder {
  const log = new LogBuilder([KEY]);
  for (const month of ["2026-01", "2026-02", "2026-03"]) {
    const last = month === "2026-02" ? "28" : "31";
    log.write(`${month}-10T10:00:00.000Z`);
    log.write(`${month}-10T10:00:01.000Z`);
    log.seal(`${month}-10T10:00:02.000Z`);
    log.write(`${month}-${last}T23:59:58.000Z`);
    log.write(`${month}-${last}T23:59:59.000Z`);
    log.seal(`${month}-${last}T23:59:59.500Z`);
    log.write(`${month}-${last}T23:59:59.900Z`, { pending: true });
  }
  log.write("2026-04-01T00:00:00.000Z");
  log.seal("2026-04-01T00:00:01.000Z");
  log.drop(OWNER, "2026-01", "2026-04-03T00:00:00.000Z");
  log.drop(OWNER, "2026-02", "2026-04-03T00:00:01.000Z");
  log.seal("2026-04-03T00:00:02.000Z");
  return log;
}

/** Returns a log that gave up two entries, and went on. */
export function restarted(): LogBuilder {
  const log = twoDays();
  log.restart(OWNER, 12, "2026-01-08T09:00:00.000Z", [12, 13]);
  log.write("2026-01-08T10:00:00.000Z");
  log.seal("2026-01-08T10:00:01.000Z");
  return log;
}

/** Returns a log with an event that has another time than its id, 2026-01-08T10:00:00Z. */
export function withTime(occurred_at: string): LogBuilder {
  const log = twoDays();
  log.write("2026-01-08T10:00:00.000Z", { occurred_at });
  log.seal("2026-01-08T10:00:01.000Z");
  return log;
}

/** Returns a log with two events of noon, to which an outcome then added an event of the time `at`. */
export function joinedLate(at: string): LogBuilder {
  const log = new LogBuilder([KEY]);
  log.write("2026-01-05T12:00:00.000Z");
  const named = { named: { intent_member_id: null }, user_id: "ada", actor: person("member-7") };
  log.write("2026-01-05T12:00:00.500Z", named);
  log.write(at, named);
  log.seal("2026-01-05T12:00:02.000Z");
  return log;
}

const NOTHING = {
  owner: OWNER,
  keys: [],
  roots: [],
  witness_keys: [],
  quorum: 0,
  result: "complete",
} as const;

/** Builds all exports. */
export async function goodExports(): Promise<TestExport[]> {
  const log = twoDays();
  const bare = { ...NOTHING, keys: [logKeyText(KEY)], roots: [], witness_keys: [] };
  const cosigned = await log.note(4, [WITNESS, SECOND_WITNESS]);
  const witnesses = { witness_keys: [WITNESS, SECOND_WITNESS].map(witnessKeyText), quorum: 2 };
  const renamed = twoDays(
    [await fixedSigner("audit.example.com/2", "the new key of the log")],
    "audit.example.com/2",
  );
  renamed.extensions = [restartLine({ declared_at: "2026-01-04T00:00:00.000Z", size: 900, origin: ORIGIN })];
  return [
    { ...bare, title: "an organization's log", lines: await log.export(OWNER) },
    { ...bare, title: "a person's log", owner: PERSON, lines: await log.export(PERSON) },
    {
      ...bare,
      title: "an owner without events",
      owner: "user:nobody",
      lines: await log.export("user:nobody"),
    },
    {
      ...bare,
      title: "a kept root and two witnesses",
      ...witnesses,
      roots: [await log.note(3), await log.note(4), cosigned],
      lines: await log.export(OWNER, { root: 3, cosigned }),
    },
    {
      ...bare,
      title: "two keys that both sign",
      keys: [logKeyText(OLD_KEY)],
      lines: await twoDays([OLD_KEY, KEY]).export(OWNER),
    },
    { ...bare, title: "dropped months", lines: await droppedMonths().export(OWNER) },
    { ...bare, title: "a restart under a new name", keys: [], lines: await renamed.export(OWNER) },
    { ...bare, title: "a restart of the chain", result: "undecided", lines: await restarted().export(OWNER) },
    {
      ...bare,
      title: "an event that joined late",
      result: "undecided",
      lines: await joinedLate("2026-01-05T10:59:00.000Z").export(OWNER),
    },
    {
      ...bare,
      title: "a log without a key",
      keys: [],
      result: "undecided",
      lines: await twoDays([]).export(OWNER),
    },
    {
      ...bare,
      title: "a log before its first leaf",
      keys: [],
      result: "undecided",
      lines: await new LogBuilder([KEY]).export(OWNER),
    },
  ];
}
