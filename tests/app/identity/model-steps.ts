import fc from "fast-check";
import { type Method, NOBODY } from "./bed.ts";
import { type Model, ROLE_LABELS } from "./model.ts";

/** The response that the model expects. `model.test.ts` compares the body if it is set. */
export interface Expected {
  status: number;
  code?: string;
  details?: unknown;
  body?: unknown;
  /** The audit note. By default, the response has none. */
  note?: Note;
}

/** The audit note in the response headers. */
export interface Note {
  details?: Record<string, unknown>;
  created?: string;
  organization_id?: string;
  member_id?: string;
}

/** The values of a response that the model cannot predict: new ids and secrets. */
export type Given = Record<string, unknown>;

/** A call. `settle` applies the effect of the call to the model, and returns the expected response. */
interface Planned {
  method: Method;
  path: string;
  body?: unknown;
  settle(given: Given): Expected;
}

/** A step of a random sequence. `plan` returns a call, or null if the step only lets time pass. */
export interface Step {
  name: string;
  plan(model: Model): Planned | null;
}

export const notFound: Expected = { status: 404, code: "NOT_FOUND" };
export const invalid: Expected = { status: 422, code: "VALIDATION_ERROR" };
export const done: Expected = { status: 204 };

/** Returns the note of a change: the old and the new value of each field that differs. */
export function noteOf(before: object, after: object): Note {
  const old = new Map(Object.entries(before));
  const changes = Object.entries(after).filter(([name, to]) => old.has(name) && old.get(name) !== to);
  if (changes.length === 0) return {};
  return { details: Object.fromEntries(changes.map(([name, to]) => [name, { from: old.get(name), to }])) };
}

/** Returns a call without a body. */
export function call(method: Method, path: string, settle: Planned["settle"]): Planned {
  return { method, path, settle };
}

/** Returns a call with a body. */
export function send(method: Method, path: string, body: unknown, settle: Planned["settle"]): Planned {
  return { method, path, body, settle };
}

/** Generates an index for {@link pick}. The largest index selects an id that never existed. */
export const place = fc.nat({ max: 23 });
const NEVER_EXISTED = 23;
export const text = fc.constantFrom("Ada", "  Grace  ", "Ünïcode 🚪", "x".repeat(128), "🚪".repeat(128));
export const role = fc.option(fc.constantFrom(...Object.keys(ROLE_LABELS)), { nil: undefined });

/** Returns the id at an index that counts from the newest, so that small indexes select related things. */
export function pick(ids: Iterable<string>, index: number): string {
  const all = [...ids].reverse();
  return index === NEVER_EXISTED ? NOBODY : (all[index % Math.max(all.length, 1)] ?? NOBODY);
}

/** Returns the id of a deleted thing for every sixth index, and otherwise the id of an existing one. */
function pickLiving(ids: Iterable<string>, past: Iterable<string>, index: number): string {
  return pick(index % 6 === 5 ? past : ids, index);
}

export const aPerson = (model: Model, index: number) =>
  pickLiving(model.people.keys(), model.past.people, index);

export const anOrganization = (model: Model, index: number) =>
  pickLiving(model.organizations.keys(), model.past.organizations, index);

/** Generates steps of one kind. The name of a step shows its random values. */
export function steps<Values>(
  name: string,
  values: { [Name in keyof Values]: fc.Arbitrary<Values[Name]> },
  plan: (model: Model, values: Values) => Planned | null,
): fc.Arbitrary<Step> {
  return fc.record(values).map((given) => ({
    name: `${name} ${JSON.stringify(given)}`,
    plan: (model) => plan(model, given),
  }));
}

/** Generates steps that list `things` of an organization. Both the path and the response have this word. */
export const listOf = (things: string, shown: (model: Model, organization: string) => unknown[]) =>
  steps(`list ${things}`, { which: place }, (model, { which }) => {
    const id = anOrganization(model, which);
    return call("GET", `/organizations/${id}/${things}?limit=100`, () => {
      if (!model.organizations.has(id)) return notFound;
      return { status: 200, body: { [things]: shown(model, id), has_more: false } };
    });
  });

/** Returns the organization of `owned`, except for every sixth index, which selects any organization. */
export const organizationOf = (model: Model, owned: { organization: string } | undefined, index: number) =>
  index % 6 !== 5 && owned ? owned.organization : anOrganization(model, index);
