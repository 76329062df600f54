import type { Model } from "../checker/model.ts";

interface Write {
  readonly service: string;
  /** The `X-Request-ID` of the write. The registry stores it in the revision. */
  readonly request_id: string;
  /** The revision in the `If-Match` header; null if the request has no such header. */
  readonly ifMatch: number | null;
}

export type RevisionCall =
  | (Write & { readonly kind: "put"; readonly value: string })
  | (Write & { readonly kind: "delete" })
  | (Write & { readonly kind: "restore"; readonly revision: number })
  | { readonly kind: "read"; readonly service: string };

export type RevisionOutcome =
  /** `revision` is null for a deletion, whose response has no revision. */
  | { readonly kind: "written"; readonly revision: number | null }
  | { readonly kind: "refused"; readonly current: number | null }
  | { readonly kind: "missing" }
  | { readonly kind: "read"; readonly revision: number; readonly value: string };

/** The state: the value of each revision, from revision 1 on. The value of a deletion is null. */
type Values = readonly (string | null)[];

/** The model of revisions and `If-Match` (RG-46 to RG-48, RG-54, RG-56, RG-58). */
export const revisions: Model<Values, RevisionCall, RevisionOutcome> = {
  name: "revisions",
  keyOf: ({ service }) => service,
  begin: () => [],
  step: (values, call, outcome) =>
    call.kind === "read" ? read(values, outcome) : write(values, call, outcome),
  leavesState: ({ kind }, outcome) => kind === "read" || (outcome !== null && outcome.kind !== "written"),
  textOf: (values) => JSON.stringify(values),
};

function read(values: Values, outcome: RevisionOutcome | null): Values | null {
  const value = values.at(-1) ?? null;
  if (outcome === null) return values;
  if (value === null) return outcome.kind === "missing" ? values : null;
  const isRight = outcome.kind === "read" && outcome.revision === values.length && outcome.value === value;
  return isRight ? values : null;
}

type WriteCall = Exclude<RevisionCall, { kind: "read" }>;

function write(values: Values, call: WriteCall, outcome: RevisionOutcome | null): Values | null {
  const after = afterWrite(values, call);
  if (outcome === null) return after ?? values;
  if (after === null) return mayRefuse(values, call, outcome) ? values : null;
  if (outcome.kind !== "written") return null;
  return outcome.revision === null || outcome.revision === after.length ? after : null;
}

/** Returns the revisions after a write, or null if the registry must refuse the write. */
function afterWrite(values: Values, call: WriteCall): Values | null {
  if (call.ifMatch !== null && call.ifMatch !== values.length) return null;
  if (call.kind === "put") return [...values, call.value];
  if (call.kind === "delete") return (values.at(-1) ?? null) === null ? null : [...values, null];
  const old = values[call.revision - 1] ?? null;
  return old === null ? null : [...values, old];
}

function mayRefuse(values: Values, { kind, ifMatch }: WriteCall, outcome: RevisionOutcome): boolean {
  if (outcome.kind === "missing") return kind !== "put";
  if (outcome.kind !== "refused" || ifMatch === null || ifMatch === values.length) return false;
  return outcome.current === (values.length === 0 ? null : values.length);
}
