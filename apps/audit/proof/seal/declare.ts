import { randomBytes } from "node:crypto";
import {
  type Hash,
  type Restart,
  type Retention,
  restartEntryHash,
  retentionEntryHash,
} from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { alteredOf, LogAltered } from "./altered.ts";
import { planChains } from "./append-to-chains.ts";
import { selectChains } from "./chain-sql.ts";
import type { DeclarationWrite } from "./pass-sql.ts";
import { openMap, type PassRead } from "./read-pass.ts";
import { nextLeaf, type PassDeps, sealPass, writeAndSign } from "./seal-pass.ts";
import { selectState } from "./state-sql.ts";

const SALT_BYTES = 16;
/** The maximum number of attempts to write declarations while another replica seals. */
const TRIES_MAX = 100;

/** A declaration of an owner's chain. */
export type Declared =
  | { owner: string; kind: "retention"; content: Retention }
  | { owner: string; kind: "restart"; content: Restart & { lost: string } };

/**
 * Appends a declaration to each chain, under one new leaf. Tries again if another replica has sealed entries since the
 * attempt began.
 *
 * @throws LogAltered if the rows of one of the chains are not what was sealed
 */
export async function declare(deps: PassDeps, declared: readonly Declared[]): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await declareOnce(deps, declared)) return;
  }
  throw new Error(
    `The declarations were not written in ${TRIES_MAX} attempts: the service sealed entries during each one. Try again later.`,
  );
}

async function declareOnce(deps: PassDeps, declared: readonly Declared[]): Promise<boolean> {
  const owners = declared.map(({ owner }) => owner);
  const read = await deps.reads.transaction(
    "read_declared_chains",
    async (tx) => {
      const state = await selectState(tx);
      const tree = await deps.memory.roots.check(tx, state);
      const map = await openMap(tx, deps.memory.nodes, tree, owners);
      return { state, tree, map, chains: await selectChains(tx, owners) };
    },
    { isolation: "repeatable read" },
  );
  const { tree, map, chains } = read;
  if (tree.unsigned !== null) {
    await sealPass(deps);
    return false;
  }
  const [altered] = alteredOf(chains, map);
  if (altered !== undefined) throw new LogAltered(`The chain of ${altered.owner}: ${altered.reason}`);
  return writeDeclarations(deps, read, declared);
}

/**
 * Writes declarations in chains, under one new leaf, and signs it. Returns false if another pass was written first.
 *
 * @param also further changes of the same transaction
 */
export function writeDeclarations(
  deps: PassDeps,
  read: Pick<PassRead, "state" | "tree" | "map" | "chains">,
  declared: readonly Declared[],
  also?: (tx: Orm) => Promise<void>,
): Promise<boolean> {
  const { state, map, chains } = read;
  const entries = declared.map((each) => {
    const salt = randomBytes(SALT_BYTES).toString("hex");
    return { ...each, salt, hash: hashOf(each, salt) };
  });
  const plan = planChains(entries, chains, map);
  const declarations = plan.entries.map(({ entry, ...place }): DeclarationWrite => {
    const { kind, content, salt } = entry;
    const month = entry.kind === "retention" ? entry.content.month : null;
    return { ...place, kind, salt, content, month, declared_at: content.declared_at };
  });
  const write = {
    // keeps the stored holder, so that the replica that seals goes on
    holder: state.holder ?? deps.holder,
    sealed_to: state.sealed_to,
    declarations,
    heads: plan.heads,
    leaf: nextLeaf(deps, read),
    ...{ entries: [], begins: null, altered: [], restored: [] },
  };
  return writeAndSign(deps, read, write, also);
}

function hashOf(declared: Declared, salt: string): Hash {
  return declared.kind === "retention"
    ? retentionEntryHash(declared.owner, declared.content, salt)
    : restartEntryHash(declared.owner, declared.content, salt);
}
