import type { AdmissionChange } from "@ostiary/lib/contracts/admission";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import type { Admitted, Principal } from "./principal.ts";

const IDS_MAX = 100_000;

/**
 * The changes of admissions that make cached results void (GW-221, GW-222). A result is compared with them when it is
 * used again, so that the time for a change does not depend on the number of cached results.
 */
export class ChangeMemory {
  count = 0;
  /** The number of the response that voided all earlier results. */
  #all = 0;
  #refusals = 0;
  /** The last response that named each person, member or organization. */
  readonly #named = new Map<string, number>();

  add(changes: readonly AdmissionChange[]): void {
    this.count += 1;
    for (const change of changes) {
      this.#named.set(idOf(change), this.count);
      if (change.readmits) this.#refusals = this.count;
    }
    if (this.#named.size > IDS_MAX) this.addAll();
  }

  addAll(): void {
    this.count += 1;
    this.#all = this.count;
    this.#named.clear();
  }

  /** Returns whether a later response has voided a result that was valid after `count` responses. */
  isVoid(result: Admitted | CredentialRefusal, count: number): boolean {
    if (result instanceof CredentialRefusal) return count < Math.max(this.#all, this.#refusals);
    return this.isAbout(result.principal, count);
  }

  /** Returns whether a response after the first `count` ones may be about the admission of a caller. */
  isAbout({ user_id, member_id, organization_id }: Principal, count: number): boolean {
    if (count < this.#all) return true;
    return [user_id, member_id, organization_id].some(
      (id) => id !== null && count < (this.#named.get(id) ?? 0),
    );
  }
}

function idOf(change: AdmissionChange): string {
  if ("user_id" in change) return change.user_id;
  return "member_id" in change ? change.member_id : change.organization_id;
}
