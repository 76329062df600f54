import { expect, test } from "bun:test";
import { restartTree } from "@ostiary/audit/restart";
import { mapSteps } from "@ostiary/lib/domain/proof";
import { summaryOf } from "../../support/audit/verify-lines.ts";
import { rejection, services } from "../../support/index.ts";
import { type OwnLog, ownLog } from "./own-log.ts";
import { runOstiary } from "./service-role-bed.ts";

const NAME = "audit.example.com/second";
const OWNER = "owner-0";
const OTHERS = Array.from({ length: 39 }, (_, n) => `owner-${n + 1}`);
const OWNERS = [OWNER, ...OTHERS];
/** Statements find the chain of the owner under test with this. */
const ID = `(select id from audit.chains where owner = 'organization:${OWNER}')`;
/** The first digit of the path to the owner in the map: with this many owners, it has a node of its own. */
const DIGIT = mapSteps(`organization:${OWNER}`).slice(0, 1);
const LOST = `delete from audit.head_map where path like '${DIGIT}%'`;

/** Returns a log with 40 sealed owners that has `change` done to its database. */
async function changed(change: string): Promise<OwnLog> {
  const log = await ownLog();
  for (const owner of OWNERS) await log.write(1, owner);
  await log.seal();
  await log.sealed(3, OWNER);
  await log.tamper(change);
  await log.restart();
  return log;
}

/** Begins a new tree, and returns the owners that it leaves out. */
async function newTree(log: OwnLog): Promise<string[]> {
  await log.restart({ origin: NAME });
  const count = await restartTree(log.deps);
  const rows = await log.sql<{ owner: string }>`select owner from audit.altered_chains order by owner`;
  expect(rows).toHaveLength(count);
  return rows.map(({ owner }) => owner);
}

/** Expects that these logs go on and are complete, and that their verdicts name the restart. */
async function expectComplete(log: OwnLog, owners: string[]): Promise<void> {
  for (const owner of owners) await log.write(1, owner);
  await log.seal();
  for (const owner of owners) {
    const verdict = await log.verdict(owner);
    expect(verdict).toMatchObject({ result: "complete", events: owner === OWNER ? 5 : 2 });
    expect(verdict.earlier_trees).toMatchObject([{ origin: "ostiary/audit-log" }]);
  }
}

// AU-204
test.each([
  ["an inner node", LOST],
  ["its root", "delete from audit.head_map where path = ''"],
  ["all nodes", "delete from audit.head_map"],
  [
    "nodes that were swapped",
    `update audit.head_map set node = (select node from audit.head_map where path <> '' and path <> '${DIGIT}' limit 1)
      where path = '${DIGIT}'`,
  ],
  [
    "a node of an impossible version",
    "update audit.head_map set node = overlay(node placing decode(repeat('ff', 8), 'hex') from 5) where path = ''",
  ],
  ["its leaves", "delete from audit.leaves"],
  ["its signed root", "update audit.sealer set note = null"],
  ["a hash of its tree", "update audit.leaves set hashes = '' where number = 1"],
])("a map that lost %s is made again by restart --origin, with every head", async (_, change) => {
  const log = await changed(change);
  expect(await newTree(log)).toEqual([]);
  await expectComplete(log, OWNERS);
});

// AU-204
test("a chain that moved in a lost leaf is left out by the new tree until it is restarted", async () => {
  const log = await changed("delete from audit.leaves where number = (select max(number) from audit.leaves)");
  await newTree(log);
  await log.write(1, OWNER);
  await log.seal();
  await rejection(log.proof(OWNER));
  await log.restartOwner(OWNER);
  await log.seal();
  expect(await log.verdict(OWNER)).toMatchObject({ events: 5 });
  await expectComplete(log, OTHERS);
});

// AU-204
test.each([
  ["removed its row", `delete from audit.chains where owner = 'organization:${OWNER}'`, 1, 6],
  [
    "removed its row and its entries",
    `delete from audit.entries where chain_id = ${ID}; delete from audit.chains where owner = 'organization:${OWNER}'`,
    1,
    0,
  ],
  ["cut its tail", `delete from audit.entries where chain_id = ${ID} and position > 5`, 6, 6],
  ["removed its middle", `delete from audit.entries where chain_id = ${ID} and position = 2`, 2, 6],
  [
    "rewrote an event",
    `update audit.audit_events set ip = '::9' where id = (select event_id from audit.entries
      where chain_id = ${ID} and position = 2)`,
    2,
    6,
  ],
  [
    "puts a declaration without content at its end",
    `insert into audit.declarations (chain_id, position, declared_at, kind, month, content, chain, salt)
      values (${ID}, 7, now(), 'retention', 'never', '{"month":{"at":1e999}}', '', '')`,
    7,
    7,
  ],
  [
    "claims a position far away",
    `insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain)
      select chain_id, 9007199254740993, occurred_at, 'forged', false, chain from audit.entries
      where chain_id = ${ID} and position = 1`,
    7,
    2 ** 52,
  ],
])(
  "a chain without its head is left out by the new tree until it is restarted, when somebody %s",
  async (_, change, from, to) => {
    const log = await changed(`${change};${LOST}`);
    const owner = `organization:${OWNER}`;
    expect(await newTree(log)).toEqual([owner]);
    await log.seal();
    expect(await log.sql`select from audit.altered_chains where owner = ${owner}`).toHaveLength(1);
    expect(await log.restartOwner(OWNER)).toEqual({ from, to });
    await log.sealed(1, OWNER);
    expect(await log.sql`select from audit.altered_chains`).toHaveLength(0);
    const verdict = await log.verdict(OWNER);
    expect(verdict).toMatchObject({ events: 5, restarts: [{ from }] });
    expect(verdict.earlier_trees).toHaveLength(1);
    expect(summaryOf(verdict)).toBe(to === 0 ? "complete" : "undecided entries_given_up");
    await expectComplete(log, OTHERS);
  },
);

// AU-204
test("a chain whose row differs from its entries gets the head of its entries, and waits for its row", async () => {
  const log = await changed(`update audit.chains set chain = sha256('x') where id = ${ID};${LOST}`);
  const [row] = await log.sql<{ chain: string }>`select encode(chain, 'hex') as chain from audit.entries
    where chain_id = (select id from audit.chains where owner = ${`organization:${OWNER}`}) order by position desc limit 1`;
  expect(await newTree(log)).toEqual([`organization:${OWNER}`]);
  await log.tamper(`update audit.chains set chain = decode('${row?.chain}', 'hex') where id = ${ID}`);
  await expectComplete(log, OWNERS);
});

/** Removes the owner's chain. */
const GONE = `delete from audit.entries where chain_id = ${ID};
  delete from audit.chains where owner = 'organization:${OWNER}'`;

/** Cuts an entry off the owner's chain, and makes the row of the chain agree. */
const SHORTENED = `delete from audit.entries where chain_id = ${ID} and position = 6;
  update audit.chains set position = 5, chain = (select chain from audit.entries where chain_id = ${ID}
    and position = 5) where id = ${ID}`;

// AU-204
test("a shorter chain that agrees with itself is taken as it is, and gets its events again", async () => {
  const log = await changed(`${SHORTENED};${LOST}`);
  expect(await newTree(log)).toEqual([]);
  await log.proof(OWNER).catch(() => null);
  await expectComplete(log, OWNERS);
});

// AU-204
test.each([
  ["that agree with each other", SHORTENED, "select 1", 5],
  ["that are gone", GONE, `delete from audit.audit_events where organization_id = '${OWNER}'`, 0],
])("a log that is left out already has to be restarted, with rows %s", async (_, change, later, to) => {
  const owner = `organization:${OWNER}`;
  const isLeftOut = () => log.sql`select from audit.altered_chains where owner = ${owner}`;
  const log = await changed(change);
  await log.sealed(1, OWNER);
  expect(await isLeftOut()).toHaveLength(1);
  await log.tamper(`${later};${LOST}`);
  expect(await newTree(log)).toEqual([owner]);
  await log.seal();
  expect(await isLeftOut()).toHaveLength(1);
  expect(await log.restartOwner(OWNER)).toEqual({ from: 1, to });
  await log.sealed(1, OWNER);
  expect(await log.verdict(OWNER)).toMatchObject({ restarts: [{ from: 1 }] });
});

// AU-204
test.each([
  ["other nodes", `delete from audit.head_map where path <> '' and path not like '${DIGIT}%'`],
  ["the signed root", "update audit.sealer set note = null"],
])(
  "a head that the map still has is kept without %s, whatever the rows of its chain are",
  async (_, change) => {
    const log = await changed(`${SHORTENED};${change}`);
    expect(await newTree(log)).toEqual([]);
    await log.sealed(1, OWNER);
    expect(await log.sql`select owner, reason from audit.altered_chains`).toEqual([
      {
        owner: `organization:${OWNER}`,
        reason: "the chain ends at position 5, and position 6 was sealed",
      },
    ]);
  },
);

// AU-204
test("a chain with a row that cannot be read is left out by the new tree, and the other logs go on", async () => {
  // a value without the bits that say what it is: reading it is an error
  const log = await changed(`create cast (bytea as jsonb) without function;
    update audit.audit_events set params = '\\x00000000'::bytea::jsonb where id = (select event_id from audit.entries
      where chain_id = ${ID} and position = 2);
    drop cast (bytea as jsonb);${LOST}`);
  expect(await newTree(log)).toEqual([`organization:${OWNER}`]);
  await expectComplete(log, OTHERS);
});

// AU-204
test.skipIf(!services().postgres.real)(
  "the command says how many logs the new tree leaves out, which they are, and what to do",
  async () => {
    const log = await changed(`delete from audit.entries where chain_id = ${ID} and position > 5;${LOST}`);
    const env = { DATABASE_URL: log.url, AUDIT_SIGNING_KEY_FILE: log.keyFile };
    const { exitCode, stdout, stderr } = await runOstiary(env, "restart", "--origin", NAME);
    expect([exitCode, stdout]).toEqual([
      0,
      `The log has a new tree with the name ${NAME}. Set AUDIT_LOG_ORIGIN=${NAME} and restart the service.\n` +
        "Logs that are left out, because their heads are lost: 1. Run ostiary audit restart --owner OWNER for each of them in audit.altered_chains.\n",
    ]);
    expect(stderr).toContain(`organization:${OWNER}`);
    const restarted = await runOstiary(env, "restart", "--owner", `organization:${OWNER}`);
    expect(restarted.stdout).toContain("The positions 6 to 6 are given up");
    await log.restart({ origin: NAME });
    await log.sealed(1, OWNER);
    expect(await log.verdict(OWNER)).toMatchObject({ result: "undecided", events: 5 });
  },
);

/** Cuts the owner's chain, rows and all, back to its first entry, which the first leaf has. */
const CUT_BACK = `delete from audit.audit_events where organization_id = '${OWNER}'
    and id not in (select event_id from audit.entries where chain_id = ${ID} and position = 1);
  delete from audit.request_ids where id in (select event_id from audit.entries where chain_id = ${ID} and position > 1);
  delete from audit.entries where chain_id = ${ID} and position > 1;
  update audit.chains set position = 1, chain = (select chain from audit.entries where chain_id = ${ID}
    and position = 1) where id = ${ID}`;

// AU-204
test.each([1, 2, 2 ** 53])(
  "a new tree does not take a forged leaf that is %i after the signed one",
  async (after) => {
    const forged = `(select max(number) + ${after} from audit.leaves)`;
    const log = await changed(`${CUT_BACK};
    insert into audit.head_map (version, path, node) select ${forged}, path, node from audit.head_map
      where version = 1 and path = '';
    insert into audit.leaves (number, sealed_at, map, hashes) select ${forged}, sealed_at, map, hashes
      from audit.leaves where number = 1`);
    const owner = `organization:${OWNER}`;
    await newTree(log);
    await log.sealed(1, OWNER);
    expect(await log.sql`select owner from audit.altered_chains`).toEqual([{ owner }]);
    expect(await log.restartOwner(OWNER)).toEqual({ from: 2, to: 6 });
  },
);

// AU-204
test("a new tree takes the leaf of a pass that was interrupted before its signature", async () => {
  const log = await changed("select 1");
  const [state] = await log.sql<{ note: string }>`select note from audit.sealer`;
  await log.sealed(1, OWNER);
  await log.sql`update audit.sealer set note = ${state?.note}`;
  expect(await newTree(log)).toEqual([]);
  await log.sealed(1, OWNER);
  expect(await log.verdict(OWNER)).toMatchObject({ result: "complete", events: 6 });
});
