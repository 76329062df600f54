import { randomBytes } from "node:crypto";
import { entryHash, ownerOf, type Statement, statementEntry } from "@ostiary/lib/domain/proof";
import { type Placed, planChains, type Unplaced } from "../../sealing/append-to-chains.ts";
import { selectChains } from "../../sealing/chain-sql.ts";
import { writePass } from "../../sealing/pass-sql.ts";
import { notePass, type PassDeps, type PassResult, SALT_BYTES } from "../../sealing/seal-pass.ts";
import type { UsageStatements } from "../../sealing/sealer.ts";
import type { SealerState } from "../../sealing/sealer-state-sql.ts";
import { nextCheckpoint } from "../../sealing/sign-checkpoint.ts";
import { type DueMonth, hasDue, selectDue } from "./due-months-sql.ts";
import { statementsWritten } from "./sql.ts";
import { statementOf } from "./statement.ts";

/** The maximum number of statements in one pass. */
const STATEMENTS_MAX = 200;

interface NewStatement extends Unplaced {
  due: DueMonth;
  statement: Statement;
  salt: string;
}

/** The functions with which the sealer writes statements of usage. */
export const usageStatements: UsageStatements = {
  due: hasDue,
  write: stateUsage,
};

/**
 * Writes due statements into the chains of their organizations (AU-131), up to the size of one pass, on top of
 * `state`. One SQL statement writes everything, or nothing if another pass was written first.
 */
async function stateUsage(deps: PassDeps, state: SealerState): Promise<PassResult> {
  const { reads, writes, sealed, clock, holder } = deps;
  const nowMs = clock.now();
  const due = await selectDue(writes, { nowMs, limit: STATEMENTS_MAX });
  if (due.length === 0) return { entries: 0, end: "done" };
  const found = due.map((each) => newStatement(each, nowMs));
  const owners = [...new Set(found.map(({ owner }) => owner))];
  const map = await sealed.openMap(state.checkpoint, owners);
  const chains = await selectChains(reads, owners);
  const altered = await sealed.alteredOf(chains, map);
  const isAltered = new Set(altered.map(({ owner }) => owner));
  const entries = found.filter(({ owner }) => !isAltered.has(owner));
  const sound = chains.filter(({ owner }) => !isAltered.has(owner));
  const plan = planChains(entries, sound, map);
  const sealed_at = new Date(nowMs).toISOString();
  const checked =
    sound.length === 0
      ? { nodes: [], checkpoint: null, tree: { leaves: [], note: undefined } }
      : await nextCheckpoint(deps, state, map, sealed_at);
  const pass = {
    holder,
    sealed_to: state.sealed_to,
    sealed_before: state.sealed_to,
    older: state.older,
    entries: [],
    heads: plan.heads,
    altered,
    also: statementsWritten(plan.entries.map(statementWrite)),
    ...checked,
  };
  if (!(await writePass(writes, state.passes, pass))) return { entries: 0, end: "lost" };
  notePass(deps, pass);
  return { entries: entries.length, end: due.length === STATEMENTS_MAX ? "behind" : "done" };
}

function newStatement(due: DueMonth, nowMs: number): NewStatement {
  const owner = ownerOf("organization", due.organization_id);
  const salt = randomBytes(SALT_BYTES).toString("hex");
  const statement = statementOf(due, nowMs);
  return { due, owner, statement, salt, hash: entryHash(statementEntry(owner, statement, salt)) };
}

function statementWrite({ entry, chain_id, position, chain }: Placed<NewStatement>) {
  const { due, statement, salt } = entry;
  const { organization_id, month, stated, parts } = due;
  const { stated_at } = statement;
  const place = { chain_id, position, chain, salt };
  const seen = parts.map(({ service, policy, changes }) => ({ service, policy, changes }));
  return { ...place, organization_id, month, number: stated + 1, stated_at, statement, parts: seen };
}
