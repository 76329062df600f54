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
import type { Finding, Findings, Place } from "./findings.ts";

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
  readonly #month: string | null;

  constructor(end: ProofEnd, findings: Findings, chain: ChainCheck, { from }: Pick<EventsCheck, "from">) {
    this.#end = end;
    this.#items = end.retention ?? [];
    this.#findings = findings;
    this.#chain = chain;
    const earliest = from === null ? null : monthOfTime(from);
    const months = this.#of("retention").map(({ month }) => month);
    this.#month =
      months
        .filter((month) => earliest === null || month < earliest)
        .toSorted()
        .at(-1) ?? null;
  }

  check(): RemainderFound {
    for (const item of [...this.#of("retention"), ...this.#of("restart")]) this.#addDeclaration(item);
    let last = 0;
    let dropped = 0;
    for (const item of this.#items) {
      const [from, to] =
        "from" in item && "to" in item ? [item.from, item.to] : [item.position, item.position];
      if (from <= last || to < from) this.#wrong(item, `a position above ${last}`, from);
      last = Math.max(to, last);
      if (item.kind === "dropped") dropped += to - from + 1;
      if (item.kind === "dropped") this.#checkDropped(item);
      if (item.kind === "lost" && !this.#of("restart").some((restart) => isWithin(item, restart))) {
        this.#wrong(item, "a restart that declares these positions");
      }
      if (item.kind === "dropped" || item.kind === "lost") {
        this.#chain.addMissing(from, Math.max(from, to), hashFromHex(item.chain));
      }
    }
    return { dropped, month: dropped === 0 ? null : this.#month, restarts: this.#of("restart") };
  }

  /** Turns the findings that a restart explains into a question that stays open. */
  giveUp(restarts: readonly Restart[]): void {
    for (const restart of restarts) {
      const { from, position, declared_at } = restart;
      const to = Math.max(from, position - 1);
      const changed = this.#findings.remove((finding) => isExplained(finding, restart)).length;
      const lost = this.#of("lost").filter((item) => isWithin(item, restart));
      const missing = lost.reduce((sum, item) => sum + item.to - item.from + 1, 0);
      if (changed + missing === 0) continue;
      const found = `missing: ${missing}, changed: ${changed}; declared ${declared_at}`;
      this.#findings.add("entries_given_up", { position: from, to }, null, found);
    }
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
    const declared = this.#of("retention").findLast((declaration) => declaration.month === month);
    if (declared === undefined || item.to >= declared.position) {
      refuse("a declaration after them, of a month before all events");
    } else if (!("contents" in item)) {
      const bound = this.#sealedBefore(monthEnd(month) - MONTH_MARGIN_MS);
      if (item.to <= bound) return;
      const { note } = this.#end;
      const root = readRoot(note);
      // the tree under the last name before a restart could prove when the entries were sealed
      const before = root === null ? undefined : treesBefore(root.head).at(-1);
      if (note === null)
        this.#findings.add("no_signed_root", place, null, "dropped, perhaps before a restart");
      else if (before === undefined) refuse(`positions up to ${bound}, or the hashes of contents`);
      else this.#findings.add("entries_given_up", place, null, `dropped under the name ${before.origin}`);
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
    return Math.max(0, ...old.map(({ position }) => position));
  }

  #wrong(item: Remainder, expected: string, found: unknown = null): void {
    const place: Place =
      "position" in item ? { position: item.position } : { position: item.from, to: item.to };
    this.#findings.add("declaration_wrong", place, expected, found);
  }
}

function isWithin({ from, to }: Kind<"lost">, restart: Restart): boolean {
  return restart.from <= from && to < restart.position;
}

/** Returns whether a restart explains a finding: an entry that it gave up, or an event that was sealed again. */
function isExplained({ code, place }: Finding, { from, position, declared_at }: Restart): boolean {
  const at = place.position ?? 0;
  if (code === "event_late" || code === "event_joined_late")
    return at > position && decodeTime(place.event_id ?? "") < Date.parse(declared_at);
  return (code === "entry_changed" || code === "earlier_head_wrong") && from <= at && at < position;
}
