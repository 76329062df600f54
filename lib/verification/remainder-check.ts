import { decodeTime } from "ulid";
import type { ProofEnd, Remainder } from "../contracts/audit/index.ts";
import {
  declarationHash,
  eventEntryHash,
  hashFromHex,
  hexOf,
  MONTH_MARGIN_MS,
  monthEnd,
  monthOfTime,
  nextInChain,
  proofTime,
} from "../domain/proof/index.ts";
import { readRoot, treesBefore } from "../domain/tlog/index.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { EventsCheck } from "./events-check.ts";
import type { Finding, FindingPlace, Findings } from "./findings.ts";

type Kind<Name extends Remainder["kind"]> = Extract<Remainder, { kind: Name }>;
type Restart = Kind<"restart">;

/** The largest accepted difference between the clock of a declaration and that of the newest leaf. */
const CLOCKS_MS = 60 * 60 * 1000;

/** The part of a chain that no event shows. */
export interface RemainderFound {
  /** The number of entries of dropped months. */
  dropped: number;
  /** The newest dropped month, or null. */
  month: string | null;
  restarts: readonly Restart[];
}

/** Checks the declarations of a chain, and that each missing entry belongs to a dropped month or to a restart. */
export class RemainderCheck {
  readonly #end: ProofEnd;
  readonly #items: readonly Remainder[];
  readonly #findings: Findings;
  readonly #chain: ChainCheck;
  readonly #restarts: readonly Restart[];
  readonly #retentions: readonly Kind<"retention">[];
  /** The restart that reaches furthest among those from a position on or before. */
  readonly #reaching: Highest<Restart>;
  /** The newest restart among those at a position or before. */
  readonly #newest: Highest<Restart>;
  readonly #month: string | null;
  /** The last declaration of the newest dropped month. */
  readonly #declared: Kind<"retention"> | undefined;
  /** The highest position that was certainly sealed before the next month. */
  readonly #bound: number;
  /** The name of the tree before this one, or null. */
  readonly #before: string | null;

  constructor(end: ProofEnd, findings: Findings, chain: ChainCheck, { from }: Pick<EventsCheck, "from">) {
    this.#end = end;
    this.#items = end.retention ?? [];
    this.#findings = findings;
    this.#chain = chain;
    const earliest = from === null ? null : monthOfTime(from);
    this.#restarts = this.#of("restart");
    this.#retentions = this.#of("retention");
    this.#reaching = new Highest(this.#restarts, {
      key: ({ from }) => from,
      value: ({ position }) => position,
    });
    this.#newest = new Highest(this.#restarts, { key: ({ position }) => position, value: declaredMs });
    const months = this.#retentions.map(({ month }) => month);
    const month =
      months
        .filter((each) => earliest === null || each < earliest)
        .toSorted()
        .at(-1) ?? null;
    this.#month = month;
    this.#declared = this.#retentions.findLast((declaration) => declaration.month === month);
    this.#bound = month === null ? 0 : this.#sealedBefore(monthEnd(month) - MONTH_MARGIN_MS);
    const root = readRoot(end.note);
    this.#before = root === null ? null : (treesBefore(root.head).at(-1)?.origin ?? null);
  }

  check(): RemainderFound {
    for (const item of [...this.#retentions, ...this.#restarts]) this.#addDeclaration(item);
    let last = 0;
    let dropped = 0;
    for (const item of this.#items) {
      const [from, to] =
        "from" in item && "to" in item ? [item.from, item.to] : [item.position, item.position];
      if (from <= last || to < from) this.#wrong(item, `a position above ${last}`, from);
      last = Math.max(to, last);
      if (item.kind === "dropped") dropped += to - from + 1;
      if (item.kind === "dropped") this.#checkDropped(item);
      if (item.kind === "lost" && this.#declaring(item) === null) {
        this.#wrong(item, "a restart that declares these positions");
      }
      if (item.kind === "dropped" || item.kind === "lost") {
        this.#chain.addMissing(from, Math.max(from, to), hashFromHex(item.chain));
      }
    }
    return { dropped, month: dropped === 0 ? null : this.#month, restarts: this.#restarts };
  }

  /** Turns the findings that restarts explain into questions that stay open. */
  giveUp(): void {
    const changes = new Map<Restart | null, number>();
    for (const finding of this.#findings.remove((each) => this.#explaining(each) !== null)) {
      addTo(changes, this.#explaining(finding), 1);
    }
    const losses = new Map<Restart | null, number>();
    for (const item of this.#of("lost")) addTo(losses, this.#declaring(item), item.to - item.from + 1);
    for (const restart of this.#restarts) {
      const { from, position, declared_at } = restart;
      const to = Math.max(from, position - 1);
      const [changed, missing] = [changes.get(restart) ?? 0, losses.get(restart) ?? 0];
      if (changed + missing === 0) continue;
      const found = `missing: ${missing}, changed: ${changed}; declared ${declared_at}`;
      this.#findings.add("entries_given_up", { position: from, to }, null, found);
    }
  }

  /** Returns a restart that gives up these positions, or null. */
  #declaring({ from, to }: { from: number; to: number }): Restart | null {
    const restart = this.#reaching.upTo(from);
    return restart !== null && to < restart.position ? restart : null;
  }

  /** Returns a restart that explains a finding: an entry that it gave up, or an event that was sealed again. */
  #explaining({ code, place }: Finding): Restart | null {
    const at = place.position ?? 0;
    if (code === "event_late" || code === "event_joined_late") {
      const restart = this.#newest.upTo(at - 1);
      return restart !== null && decodeTime(place.event_id ?? "") < declaredMs(restart) ? restart : null;
    }
    const isChange = code === "entry_changed" || code === "earlier_head_wrong";
    return isChange ? this.#declaring({ from: at, to: at }) : null;
  }

  #of<Name extends Remainder["kind"]>(kind: Name): Kind<Name>[] {
    return this.#items.filter((item): item is Kind<Name> => item.kind === kind);
  }

  #addDeclaration(item: Kind<"retention"> | Restart): void {
    const { position, salt, chain, declared_at } = item;
    const { head, leaf } = this.#end;
    const hash = declarationHash(head.owner, item, salt);
    this.#chain.add({ position, hash, chain: hashFromHex(chain) });
    const sealedMs = proofTime(leaf?.sealed_at ?? "") ?? 0;
    const declaredMs = proofTime(declared_at);
    if (declaredMs === null || declaredMs > sealedMs + CLOCKS_MS) {
      this.#wrong(item, `a time before ${leaf?.sealed_at ?? "the first leaf"}`, declared_at);
    }
    if (item.kind === "retention" && monthEnd(item.month) > Math.min(declaredMs ?? 0, sealedMs)) {
      this.#wrong(item, `a time after ${item.month}`, declared_at);
    } else if (item.kind === "restart" && item.from > position) {
      this.#wrong(item, `a position up to ${position}`, item.from);
    }
  }

  #checkDropped(item: Kind<"dropped">): void {
    const place = { position: item.from, to: item.to };
    const refuse = (expected: string, found: unknown = null) => {
      this.#findings.add("drop_not_proved", place, expected, found);
    };
    const month = this.#month ?? "";
    if (this.#declared === undefined || item.to >= this.#declared.position) {
      refuse("a declaration after them, of a month before all events");
    } else if (!("contents" in item)) {
      if (item.to <= this.#bound) return;
      // the tree under the last name before a restart could prove when the entries were sealed
      const before = this.#before;
      if (this.#end.note === null)
        this.#findings.add("no_signed_root", place, null, "dropped, perhaps before a restart");
      else if (before === null) refuse(`positions up to ${this.#bound}, or the hashes of contents`);
      else this.#findings.add("entries_given_up", place, null, `dropped under the name ${before}`);
    } else if (item.month > month) refuse(`${month} or earlier`, item.month);
    else if (this.#chainOf(item) !== item.chain) refuse(item.chain, this.#chainOf(item));
  }

  /** Computes the chain values of a run from the hashes of its contents. Returns the last one. */
  #chainOf({ from, to, month, contents }: Extract<Remainder, { contents: string[] }>): string | null {
    let value = this.#chain.valueAt(from - 1);
    if (value === null || contents.length !== to - from + 1) return null;
    for (const [index, content] of contents.entries()) {
      value = nextInChain(value, eventEntryHash(hashFromHex(content), month));
      this.#chain.addValue(from + index, value);
    }
    return hexOf(value);
  }

  /** Returns the highest position that was sealed at or before a time. */
  #sealedBefore(timeMs: number): number {
    const { leaf, head, heads } = this.#end;
    const all = [...heads, ...(leaf === null ? [] : [{ leaf, position: head.position }])];
    const old = all.filter((each) => (proofTime(each.leaf.sealed_at) ?? Number.POSITIVE_INFINITY) <= timeMs);
    return old.reduce((highest, { position }) => Math.max(highest, position), 0);
  }

  #wrong(item: Remainder, expected: string, found: unknown = null): void {
    const place: FindingPlace =
      "position" in item ? { position: item.position } : { position: item.from, to: item.to };
    this.#findings.add("declaration_wrong", place, expected, found);
  }
}

function declaredMs({ declared_at }: Restart): number {
  return proofTime(declared_at) ?? 0;
}

function addTo<Key>(sums: Map<Key, number>, key: Key, more: number): void {
  sums.set(key, (sums.get(key) ?? 0) + more);
}

/** Finds the item with the highest value among those with a key up to some number, without looking at each of them. */
class Highest<Item> {
  /** The items whose value is above those of all items before them, in the order of their keys. */
  readonly #steps: { key: number; value: number; item: Item }[] = [];

  constructor(items: readonly Item[], of: { key: (item: Item) => number; value: (item: Item) => number }) {
    const steps = items.map((item) => ({ key: of.key(item), value: of.value(item), item }));
    for (const step of steps.toSorted((a, b) => a.key - b.key)) {
      if (step.value > (this.#steps.at(-1)?.value ?? Number.NEGATIVE_INFINITY)) this.#steps.push(step);
    }
  }

  upTo(key: number): Item | null {
    let [low, high] = [0, this.#steps.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#steps[middle]?.key ?? key) <= key) low = middle + 1;
      else high = middle;
    }
    return this.#steps[low - 1]?.item ?? null;
  }
}
