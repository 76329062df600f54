import type { EarlierHead, ProofEnd, ProvenEvent, Remainder } from "@ostiary/lib/contracts/audit";
import {
  contentHash,
  declarationHash,
  eventEntryHash,
  type Hash,
  type Head,
  hexOf,
  intentContent,
  joinedSubtree,
  type Leaf,
  leafText,
  type MapProof,
  MONTH_MARGIN_MS,
  mapLeaf,
  mapSteps,
  mapValue,
  monthEnd,
  monthOfTime,
  type NamedByOutcome,
  nextInChain,
  outcomeContent,
  type Subtree,
  sha256,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import {
  consistencyRanges,
  inclusionRanges,
  type LeafRange,
  LOG_SIGNATURE,
  leafHash,
  type NoteSigner,
  noteKeyText,
  noteText,
  rootOfLeaves,
  signNote,
  treeHeadText,
  WITNESS_COSIGNATURE,
} from "@ostiary/lib/domain/tlog";
import { encodeTime } from "ulid";

export const ORIGIN = "audit.example.com/log";
export const OWNER = "organization:acme";

type Shown = Omit<ProvenEvent, "proof"> & { user_id: string | null };

/** The fields of an event that a test names. */
export interface Written extends Partial<Shown> {
  /** The member that the intent wrote, if the outcome named an organization. */
  named?: NamedByOutcome;
  pending?: boolean;
}

interface Entry {
  position: number;
  chain: Hash;
  salt: string;
  event?: { shown: Shown; part: "intent" | "outcome"; named: NamedByOutcome };
  /** The hash of the content of an event's entry. */
  content?: Hash;
  declaration?: Remainder;
  isLost?: boolean;
}

/** Ed25519 in PKCS #8, up to the 32 bytes of the private key. */
const PKCS8 = "302e020100300506032b657004220420";

/** Returns a key that is the same in each run. */
export async function fixedSigner(name: string, seed: string): Promise<NoteSigner> {
  const bytes = Uint8Array.fromHex(PKCS8 + hexOf(sha256(seed)));
  const privateKey = await crypto.subtle.importKey("pkcs8", bytes, "Ed25519", true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  return { name, privateKey, publicKey: Uint8Array.fromBase64(x, { alphabet: "base64url" }) };
}

export function logKeyText(signer: NoteSigner): string {
  return noteKeyText({ ...signer, type: LOG_SIGNATURE });
}

export function witnessKeyText(signer: NoteSigner): string {
  return noteKeyText({ ...signer, type: WITNESS_COSIGNATURE });
}

/** Builds a log with its proof in memory, with the parts of the library alone and without a clock. */
export class LogBuilder {
  readonly #chains = new Map<string, Entry[]>();
  readonly #leaves: { leaf: Leaf; heads: ReadonlyMap<string, Head> }[] = [];
  #events = 0;
  #salts = 0;
  /** The newest dropped month. */
  #dropped: string | null = null;
  signers: readonly NoteSigner[];
  extensions: readonly string[] = [];
  origin: string;

  constructor(signers: readonly NoteSigner[], origin = ORIGIN) {
    this.signers = signers;
    this.origin = origin;
  }

  /** Writes an event with its outcome, at a time. */
  write(at: string, { named = null, pending = false, ...given }: Written = {}): Shown {
    this.#events += 1;
    const shown: Shown = {
      id: encodeTime(Date.parse(at), 10) + String(this.#events).padStart(16, "0"),
      occurred_at: at,
      request_id: `request-${this.#events}`,
      organization_id: "acme",
      user_id: null,
      actor: { member_id: "member-1", auth_type: "member_apikey", key_prefix: "ostiary-k-2-4f9m" },
      service: "widgets",
      method: "POST",
      route: "/org/widgets/{widget_id}",
      params: { widget_id: String(this.#events) },
      ip: "192.0.2.1",
      user_agent: "curl/8.5.0",
      ...(pending
        ? { outcome: "pending", status: null, details: null, created_id: null }
        : { outcome: "responded", status: 201, details: { name: { to: "A" } }, created_id: "widget-1" }),
      ...given,
    };
    for (const owner of ownersOf(shown)) {
      const parts = pending ? (["intent"] as const) : (["intent", "outcome"] as const);
      for (const part of parts) this.#append(owner, shown, part, named);
    }
    return shown;
  }

  /** Declares that a month is dropped in the chain of an owner, and drops it. */
  drop(owner: string, month: string, declared_at: string): void {
    const salt = this.#salt();
    const hash = declarationHash(owner, { kind: "retention", month, declared_at }, salt);
    this.#add(owner, hash, salt, {}, (place) => ({ kind: "retention", ...place, month, declared_at }));
    this.#dropped = month;
  }

  /** Declares that entries from a position on are given up. The positions in `lost` are missing. */
  restart(owner: string, from: number, declared_at: string, lost: readonly number[]): void {
    for (const entry of this.#chain(owner)) if (lost.includes(entry.position)) entry.isLost = true;
    const salt = this.#salt();
    const hash = declarationHash(owner, { kind: "restart", from, declared_at }, salt);
    this.#add(owner, hash, salt, {}, (place) => ({ kind: "restart", ...place, from, declared_at }));
  }

  /** Removes the end of a chain, as a keeper with the key who writes another one. Earlier leaves keep their heads. */
  rewrite(owner: string, after: number): void {
    this.#chain(owner).splice(after);
  }

  /** Adds a leaf with the heads of all chains. */
  seal(sealed_at: string): void {
    const heads = new Map<string, Head>();
    for (const [owner, entries] of this.#chains) {
      const last = entries.at(-1);
      if (last !== undefined) heads.set(owner, { owner, position: last.position, chain: last.chain });
    }
    const map = hexOf(proofIn(heads, OWNER).root);
    this.#leaves.push({ leaf: { number: this.#leaves.length, sealed_at, map }, heads });
  }

  /** Returns the note of the tree of a size, with the cosignatures of witnesses. */
  async note(size = this.#leaves.length, witnesses: readonly NoteSigner[] = [], timeS = 1_767_225_600) {
    const root = this.#hash({ from: 0, to: size });
    const text = treeHeadText({ origin: this.origin, size, root, extensions: this.extensions });
    const signatures = await Promise.all(this.signers.map((signer) => signNote(text, signer)));
    for (const witness of witnesses) signatures.push(await cosigned(text, witness, timeS));
    return noteText({ text, signatures });
  }

  /** Returns the lines of an export. */
  async export(owner: string, options: { root?: number; cosigned?: string } = {}): Promise<string[]> {
    const events = this.#shownEvents(owner).map((event) => JSON.stringify(event));
    return [...events.toReversed(), JSON.stringify(await this.#end(owner, options))];
  }

  leafTexts(): string[] {
    return this.#leaves.map(({ leaf }) => leafText(leaf));
  }

  leafHashes(): Hash[] {
    return this.leafTexts().map(leafHash);
  }

  #chain(owner: string): Entry[] {
    const chain = this.#chains.get(owner) ?? [];
    this.#chains.set(owner, chain);
    return chain;
  }

  #salt(): string {
    this.#salts += 1;
    return hexOf(sha256(`salt ${this.#salts}`)).slice(0, 32);
  }

  #append(owner: string, shown: Shown, part: "intent" | "outcome", named: NamedByOutcome): void {
    const salt = this.#salt();
    const { user_id: _, ...ofOrganization } = shown;
    const event = owner.startsWith("user:") ? shown : ofOrganization;
    const text = part === "intent" ? intentContent(event, named, salt) : outcomeContent(event, named, salt);
    const content = contentHash(text);
    this.#add(owner, eventEntryHash(content, monthOfTime(shown.occurred_at)), salt, {
      event: { shown, part, named },
      content,
    });
  }

  #add(
    owner: string,
    hash: Hash,
    salt: string,
    more: Partial<Entry>,
    declare?: (place: { position: number; salt: string; chain: string }) => Remainder,
  ): void {
    const chain = this.#chain(owner);
    const position = chain.length + 1;
    const value = nextInChain(chain.at(-1)?.chain ?? ZERO_HASH, hash);
    const entry: Entry = { position, chain: value, salt, ...more };
    if (declare !== undefined) entry.declaration = declare({ position, salt, chain: hexOf(value) });
    chain.push(entry);
  }

  #isMissing({ event, isLost }: Entry): boolean {
    if (isLost) return true;
    return (
      event !== undefined && this.#dropped !== null && monthOfTime(event.shown.occurred_at) <= this.#dropped
    );
  }

  #shownEvents(owner: string): object[] {
    const byId = new Map<string, Entry[]>();
    for (const entry of this.#chain(owner)) {
      if (entry.event === undefined || this.#isMissing(entry)) continue;
      byId.set(entry.event.shown.id, [...(byId.get(entry.event.shown.id) ?? []), entry]);
    }
    return [...byId.entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, entries]) => shownEvent(owner, entries));
  }

  #remainder(owner: string, heads: readonly { leaf: Leaf; position: number }[]): Remainder[] {
    const items: Remainder[] = [];
    const margin = this.#dropped === null ? 0 : monthEnd(this.#dropped) - MONTH_MARGIN_MS;
    const old = heads
      .filter(({ leaf }) => Date.parse(leaf.sealed_at) <= margin)
      .map(({ position }) => position);
    const bound = Math.max(0, ...old);
    for (const entry of this.#chain(owner)) {
      if (entry.declaration !== undefined) items.push(entry.declaration);
      else if (this.#isMissing(entry)) extend(items, entry, bound);
    }
    return items;
  }

  async #end(
    owner: string,
    { root, cosigned: cosignedNote }: { root?: number; cosigned?: string },
  ): Promise<ProofEnd> {
    const size = this.#leaves.length;
    const newest = this.#leaves.at(-1);
    const head = newest?.heads.get(owner) ?? { owner, position: 0, chain: ZERO_HASH };
    const days = this.#daysBefore(owner);
    const asked = root !== undefined && root < size ? [root - 1] : [];
    const numbers = [...new Set([...days, ...asked])].toSorted((a, b) => a - b);
    const heads = numbers.map((number) => this.#earlier(owner, number, number + 1 === root));
    const all = newest === undefined ? heads : [...heads, { leaf: newest.leaf, position: head.position }];
    const retention = this.#remainder(owner, all);
    const isSigned = this.signers.length > 0 && size > 0;
    return {
      format: 1,
      head: { owner, position: head.position, chain: hexOf(head.chain) },
      map: newest === undefined ? { path: [] } : proofIn(newest.heads, owner).proof,
      leaf: newest?.leaf ?? null,
      path: isSigned ? this.#hashes(inclusionRanges(size - 1, size)) : [],
      note: isSigned ? await this.note() : null,
      ...(cosignedNote !== undefined && {
        cosigned: {
          note: cosignedNote,
          consistency: this.#hashes(this.#between(sizeOf(cosignedNote), size)),
        },
      }),
      heads: isSigned ? heads : heads.map((each) => ({ ...each, path: [] })),
      ...(retention.length > 0 && { retention }),
      keys: isSigned ? this.signers.map(logKeyText) : [],
    };
  }

  /** Returns the numbers of the last leaf of each day before the newest leaf, since the owner's first entry. */
  #daysBefore(owner: string): number[] {
    const last = new Map<string, number>();
    for (const { leaf, heads } of this.#leaves) {
      if (heads.has(owner)) last.set(leaf.sealed_at.slice(0, 10), leaf.number);
    }
    return [...last.values()].filter((number) => number < this.#leaves.length - 1);
  }

  #earlier(owner: string, number: number, isAsked: boolean): EarlierHead {
    const under = this.#leaves[number];
    if (under === undefined) throw new RangeError(`no leaf ${number}`);
    const { position, chain } = under.heads.get(owner) ?? { position: 0, chain: ZERO_HASH };
    const size = this.#leaves.length;
    const tree = {
      root: hexOf(this.#hash({ from: 0, to: number + 1 })),
      consistency: this.#hashes(consistencyRanges(number + 1, size)),
    };
    return {
      leaf: under.leaf,
      path: this.#hashes(inclusionRanges(number, size)),
      position,
      chain: hexOf(chain),
      map: proofIn(under.heads, owner).proof,
      ...(isAsked && { tree }),
    };
  }

  #between(a: number, b: number): LeafRange[] {
    return consistencyRanges(Math.min(a, b), Math.max(a, b));
  }

  #hash({ from, to }: LeafRange): Hash {
    return rootOfLeaves(this.leafHashes().slice(from, to));
  }

  #hashes(ranges: readonly LeafRange[]): string[] {
    return ranges.map((range) => hexOf(this.#hash(range)));
  }
}

function ownersOf({ user_id, organization_id }: Shown): string[] {
  return [
    ...(user_id === null ? [] : [`user:${user_id}`]),
    ...(organization_id === null ? [] : [`organization:${organization_id}`]),
  ];
}

function shownEvent(owner: string, entries: readonly Entry[]): object {
  const place = (part: string) => {
    const entry = entries.find(({ event }) => event?.part === part);
    return entry && { position: entry.position, salt: entry.salt, chain: hexOf(entry.chain) };
  };
  const [entry] = entries;
  if (entry?.event === undefined) throw new Error("no event");
  const { named } = entry.event;
  const { user_id, ...shown } = entry.event.shown;
  const outcome = place("outcome");
  const proof = { intent: place("intent"), outcome: outcome === undefined ? null : { ...outcome, ...named } };
  return owner.startsWith("user:") ? { ...shown, user_id, proof } : { ...shown, proof };
}

/** Adds a missing entry to the runs of missing entries. */
function extend(items: Remainder[], { position, chain, content, event, isLost }: Entry, bound: number): void {
  const at = { from: position, to: position, chain: hexOf(chain) };
  const month = monthOfTime(event?.shown.occurred_at ?? "");
  const last = items.at(-1);
  if (isLost) {
    if (last?.kind === "lost" && last.to === position - 1)
      Object.assign(last, { to: position, chain: at.chain });
    else items.push({ kind: "lost", ...at });
  } else if (position <= bound || content === undefined) {
    const isNext = last?.kind === "dropped" && !("contents" in last) && last.to === position - 1;
    if (isNext) Object.assign(last, { to: position, chain: at.chain });
    else items.push({ kind: "dropped", ...at });
  } else if (
    last?.kind === "dropped" &&
    "contents" in last &&
    last.to === position - 1 &&
    last.month === month
  ) {
    Object.assign(last, { to: position, chain: at.chain });
    last.contents.push(hexOf(content));
  } else items.push({ kind: "dropped", ...at, month, contents: [hexOf(content)] });
}

/** Returns the root of a map, and the proof of an owner's head or of its absence. */
export function proofIn(heads: ReadonlyMap<string, Head>, owner: string): { root: Hash; proof: MapProof } {
  const leaves = [...heads.values()].map((head) => {
    const key = mapSteps(head.owner);
    return { key, bits: bitsOf(key), value: mapValue(head) };
  });
  const way = bitsOf(mapSteps(owner));
  const subtree = (prefix: string): Subtree | null => {
    const below = leaves.filter(({ bits }) => bits.startsWith(prefix));
    const [only] = below;
    if (only === undefined) return null;
    if (below.length === 1) return { hash: mapLeaf(Uint8Array.fromHex(only.key), only.value), isLeaf: true };
    return joinedSubtree(subtree(`${prefix}0`), subtree(`${prefix}1`));
  };
  const path: string[] = [];
  let prefix = "";
  while (leaves.filter(({ bits }) => bits.startsWith(prefix)).length > 1) {
    const bit = way[prefix.length];
    path.unshift(hexOf(subtree(prefix + (bit === "0" ? "1" : "0"))?.hash ?? ZERO_HASH));
    prefix += bit;
  }
  const found = leaves.find(({ bits }) => bits.startsWith(prefix));
  const isOther = found !== undefined && found.bits !== way;
  const proof = isOther ? { path, other: { key: found.key, value: hexOf(found.value) } } : { path };
  return { root: subtree("")?.hash ?? ZERO_HASH, proof };
}

function bitsOf(hex: string): string {
  return [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
}

async function cosigned(text: string, witness: NoteSigner, timeS: number) {
  const signed = new TextEncoder().encode(`cosignature/v1\ntime ${timeS}\n${text}`);
  const bytes = new Uint8Array(8 + 64);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(timeS));
  bytes.set(new Uint8Array(await crypto.subtle.sign("Ed25519", witness.privateKey, signed)), 8);
  const [, keyId = ""] = witnessKeyText(witness).split("+");
  return { name: witness.name, keyId, signature: bytes };
}

function sizeOf(note: string): number {
  return Number(note.split("\n")[1]);
}
