import type { EarlierHead, ProofEnd } from "../contracts/audit/index.ts";
import {
  type Hash,
  hashFromHex,
  hexOf,
  isInMap,
  type Leaf,
  leafText,
  proofTime,
  ZERO_HASH,
} from "../domain/proof/index.ts";
import {
  EMPTY_ROOT,
  isConsistent,
  isIncluded,
  knownSignatures,
  LOG_SIGNATURE,
  leafHash,
  type NoteKey,
  noteKeyText,
  readNoteKey,
  readRoot,
  type SignedRoot,
  sameTree,
  type TreeHead,
} from "../domain/tlog/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { KeptRoot } from "./export-lines.ts";
import type { FindingCode, Findings } from "./findings.ts";

/** A root, and who signed it. */
interface RootFound extends SignedRoot {
  /** The verifier keys of the log that signed it. */
  signers: readonly string[];
}

export interface RootsFound {
  /** The root of the export, or null if no key signed it. */
  root: RootFound | null;
  cosigned: RootFound | null;
  /** The kept roots that the export continues. */
  kept: readonly KeptRoot[];
  /** The number of earlier heads that are on the chain of the export. */
  heads: number;
}

/** Checks that the head of an export is in the map of its leaf, and the leaf in the tree of its signed root. */
export class RootsCheck {
  readonly #end: ProofEnd;
  readonly #findings: Findings;
  readonly #chain: ChainCheck;
  readonly #trusted: readonly NoteKey[] | null;

  /** @param trusted the keys that the reader trusts; null trusts the keys in the file */
  constructor(end: ProofEnd, findings: Findings, chain: ChainCheck, trusted: readonly NoteKey[] | null) {
    this.#end = end;
    this.#findings = findings;
    this.#chain = chain;
    this.#trusted = trusted;
  }

  async check(kept: readonly KeptRoot[]): Promise<RootsFound> {
    const { leaf, path, note, cosigned, heads, keys } = this.#end;
    this.#checkHead();
    if (note === null || leaf === null) {
      this.#findings.add("no_signed_root", {}, null, leaf === null ? "no leaf" : "no key");
      const lists = [keys, path, ...heads.map((each) => each.path)];
      if (note !== null || cosigned !== undefined || lists.some((list) => list.length > 0)) {
        this.#findings.add("root_unreadable", { root: "note" });
      }
      return { root: null, cosigned: null, kept: [], heads: this.#checkHeads(null) };
    }
    const root = await this.#signed(note, "note");
    if (root === null) return { root, cosigned: null, kept: [], heads: this.#checkHeads(null) };
    this.#checkLeaf(leaf, path, root.head);
    if (leaf.number !== root.head.size - 1) {
      this.#findings.add("leaf_not_in_tree", { leaf: leaf.number }, root.head.size - 1, leaf.number);
    }
    const used = this.#checkHeads(root.head);
    const witnessed = cosigned === undefined ? null : await this.#cosigned(cosigned, root.head);
    return { root, cosigned: witnessed, kept: this.#continued(kept, root.head, witnessed), heads: used };
  }

  #checkHead(): void {
    const { head, leaf, map } = this.#end;
    const root = leaf === null ? ZERO_HASH : hashFromHex(leaf.map);
    if (isInMap({ ...head, chain: hashFromHex(head.chain) }, map, root)) return;
    this.#findings.add("head_not_in_map", { position: head.position, ...(leaf && { leaf: leaf.number }) });
  }

  #checkLeaf(leaf: Leaf, path: readonly string[], tree: TreeHead): void {
    const hashes = path.map(hashFromHex);
    if (isIncluded(leafHash(leafText(leaf)), leaf.number, tree, hashes)) return;
    this.#findings.add("leaf_not_in_tree", { leaf: leaf.number, root: "note" });
  }

  /** Reads a note that the keys of the log must have signed. Returns null for any other one. */
  async #signed(text: string, root: "note" | "cosigned.note"): Promise<RootFound | null> {
    const refuse = (code: FindingCode, expected: string | null = null, found: string | null = null) => {
      this.#findings.add(code, { root }, expected, found);
      return null;
    };
    const read = readRoot(text);
    if (read === null) return refuse("root_unreadable");
    const { note, head } = read;
    const known = this.#end.keys
      .flatMap((key) => readNoteKey(key) ?? [])
      .filter(({ type, name }) => type === LOG_SIGNATURE && name === head.origin);
    const trusted = this.#trusted ?? known;
    const signatures = await knownSignatures(note, [...known, ...trusted]);
    const signers = new Set(signatures.map(({ key }) => noteKeyText(key)));
    // keys that replicas do not know, or not any more, may have signed too
    const isWhole =
      new Set(this.#end.keys).size === known.length && this.#end.keys.every((key) => signers.has(key));
    const isRight = signatures.every((each) => each.isRight) && known.length === this.#end.keys.length;
    const confirmed = trusted.map(noteKeyText).filter((key) => signers.has(key));
    const isSigned = root === "note" ? isWhole && confirmed.length > 0 : signers.size > 0;
    if (isRight && isSigned) return { ...read, signers: confirmed };
    return refuse("root_not_signed", trusted.map(noteKeyText).join(" "), this.#end.keys.join(" "));
  }

  async #cosigned({ note, consistency }: NonNullable<ProofEnd["cosigned"]>, tree: TreeHead) {
    const found = await this.#signed(note, "cosigned.note");
    if (found === null) return null;
    const { head } = found;
    if (head.origin !== tree.origin) {
      this.#findings.add("trees_differ", { root: "cosigned.note" }, tree.origin, head.origin);
      return null;
    }
    const [smaller, larger] = head.size <= tree.size ? [head, tree] : [tree, head];
    if (isConsistent(smaller, larger, consistency.map(hashFromHex))) return found;
    this.#findings.add("trees_differ", { root: "cosigned.note" }, sizeOf(larger), sizeOf(smaller));
    return null;
  }

  /** Checks the earlier heads. Returns how many of them are on the chain. */
  #checkHeads(tree: TreeHead | null): number {
    const { leaf, head, heads } = this.#end;
    let last = { number: -1, sealedMs: 0, position: 0 };
    for (const under of [...heads, ...(leaf === null ? [] : [{ leaf, position: head.position }])]) {
      const { number, sealed_at } = under.leaf;
      const next = { number, sealedMs: proofTime(sealed_at) ?? -1, position: under.position };
      if (number <= last.number || next.position < last.position || next.sealedMs < last.sealedMs) {
        const found = `leaf ${number} of ${sealed_at}`;
        const place = { position: next.position, leaf: number };
        this.#findings.add("heads_out_of_order", place, `a leaf after ${last.number}`, found);
      }
      last = next;
    }
    for (const earlier of heads) {
      if (tree !== null) this.#checkLeaf(earlier.leaf, earlier.path, tree);
      this.#checkTree(earlier, tree);
    }
    return heads.filter((earlier) => this.#isOnChain(earlier)).length;
  }

  /** Checks an earlier head, and returns whether it is on the chain. */
  #isOnChain({ leaf, position, chain, map }: EarlierHead): boolean {
    const place = { position, leaf: leaf.number };
    const head = { owner: this.#end.head.owner, position, chain: hashFromHex(chain) };
    if (!isInMap(head, map, hashFromHex(leaf.map))) {
      this.#findings.add("head_not_in_map", place);
      return false;
    }
    const value = this.#chain.valueAt(position);
    if (value === null) return false;
    if (hexOf(value) === chain) return true;
    this.#findings.add("earlier_head_wrong", place, chain, hexOf(value));
    return false;
  }

  #checkTree({ leaf, tree }: EarlierHead, later: TreeHead | null): void {
    if (tree === undefined) return;
    const earlier = { size: leaf.number + 1, root: hashFromHex(tree.root) };
    if (later !== null && isConsistent(earlier, later, tree.consistency.map(hashFromHex))) return;
    this.#findings.add("trees_differ", { leaf: leaf.number, root: "note" }, sizeOf(later), sizeOf(earlier));
  }

  /** Compares the tree with the kept roots. Returns those that the tree continues. */
  #continued(kept: readonly KeptRoot[], tree: TreeHead, cosigned: SignedRoot | null): KeptRoot[] {
    const roots = new Map<number, Hash>([
      [0, EMPTY_ROOT],
      [tree.size, tree.root],
    ]);
    if (cosigned !== null) roots.set(cosigned.head.size, cosigned.head.root);
    for (const { leaf, tree: earlier } of this.#end.heads) {
      if (earlier !== undefined) roots.set(leaf.number + 1, hashFromHex(earlier.root));
    }
    return kept.filter(({ name, head }) => {
      const refuse = (code: FindingCode, expected: unknown, found: unknown) => {
        this.#findings.add(code, { root: name }, expected, found);
        return false;
      };
      const known = roots.get(head.size);
      if (head.origin !== tree.origin) return refuse("root_of_other_log", head.origin, tree.origin);
      if (known !== undefined && !sameTree({ size: head.size, root: known }, head)) {
        return refuse("trees_differ", sizeOf(head), sizeOf({ size: head.size, root: known }));
      }
      if (head.size > tree.size) return refuse("kept_root_newer", `size ${head.size}`, `size ${tree.size}`);
      if (known !== undefined) return true;
      return refuse("kept_root_not_connected", `root=${head.size}`, null);
    });
  }
}

function sizeOf(tree: { size: number; root: Hash } | null): string | null {
  return tree === null ? null : `${tree.root.toBase64()} of size ${tree.size}`;
}
