import { randomBytes } from "node:crypto";
import { type Declaration, declarationHash } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { appendToChains } from "./append-to-chains.ts";
import { type ChainRow, selectChains } from "./chain-sql.ts";
import type { PassDeps } from "./pass-deps.ts";
import { openMap, type PassRead } from "./read-pass.ts";
import { sealPass } from "./seal-pass.ts";
import { type Base, nextLeaf, writeSigned } from "./sign-pass.ts";
import { selectState } from "./state-sql.ts";

const SALT_BYTES = 16;
/** The maximum number of attempts to write declarations while another replica seals. */
const TRIES_MAX = 100;

/** A declaration in the chain of an owner. `lost` is the sealed hash that a restart gave up. */
export interface Declared {
  owner: string;
  declaration: Declaration & { lost?: string };
}

/** The chains in which declarations are written, and the map under the last signed root. */
type ChainsRead = Base & Pick<PassRead, "map" | "chains">;

interface Plan {
  declared: readonly Declared[];
  /** The ends of the chains that the declarations follow. */
  chains: readonly ChainRow[];
  /** Changes entries or declarations of earlier passes, in the same transaction. */
  also?: (tx: Orm) => Promise<void>;
}

/**
 * Appends declarations to the chains of owners, under one new leaf. Tries again if another replica has sealed entries
 * since the attempt began.
 *
 * @param planOf returns what to declare, given the chains and the transaction that read them
 */
export async function declare(
  deps: PassDeps,
  owners: readonly string[],
  planOf: (read: ChainsRead, tx: Orm) => Plan | Promise<Plan>,
): Promise<void> {
  const { reads, memory } = deps;
  const readPlan = async (tx: Orm) => {
    const state = await selectState(tx);
    const tree = await memory.roots.check(tx, state);
    const map = await openMap(tx, memory.nodes, tree, owners);
    const read = { state, tree, map, chains: await selectChains(tx, owners) };
    return { read, plan: tree.unsigned === null ? await planOf(read, tx) : null };
  };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { read, plan } = await reads.transaction("read_declared_chains", readPlan, {
      isolation: "repeatable read",
    });
    if (plan === null) await sealPass(deps);
    else if (await writeDeclarations(deps, read, plan)) return;
  }
  throw new Error(
    `The declarations were not written in ${TRIES_MAX} attempts: the service sealed entries during each one. Try again later.`,
  );
}

/** Returns false if another pass was written first. */
function writeDeclarations(deps: PassDeps, read: ChainsRead, { declared, chains, also }: Plan) {
  const { state, map } = read;
  const entries = declared.map(({ owner, declaration }) => {
    const { kind, ...content } = declaration;
    const salt = randomBytes(SALT_BYTES).toString("hex");
    const hash = declarationHash(owner, declaration, salt);
    const month = kind === "retention" ? declaration.month : null;
    return { owner, hash, row: { kind, content, salt, month, declared_at: declaration.declared_at } };
  });
  const plan = appendToChains(entries, chains, map);
  const write = {
    holder: deps.holder ?? state.holder,
    sealed_to: state.sealed_to,
    declarations: plan.entries,
    heads: plan.heads,
    leaf: nextLeaf(deps, read),
  };
  return writeSigned(deps, read, write, also);
}
