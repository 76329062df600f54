import fc from "fast-check";
import { type Method, NOBODY } from "./harness.ts";
import { type Model, ROLE_LABELS } from "./model.ts";

/** The answer that the model expects of a call. model.test.ts compares bodies. */
export interface Expected {
  status: number;
  code?: string;
  details?: unknown;
  body?: unknown;
}

/** The parts of an answer that the model cannot predict: new ids and secrets. */
export type Given = Record<string, unknown>;

/** A call, and its effect on the model. */
export interface Planned {
  port?: "internal";
  method: Method;
  path: string;
  body?: unknown;
  settle(given: Given): Expected;
}

/** A step of a random sequence: a call, or null for a step that only lets time pass. */
export interface Step {
  name: string;
  plan(model: Model): Planned | null;
}

export const notFound: Expected = { status: 404, code: "NOT_FOUND" };
export const invalid: Expected = { status: 422, code: "VALIDATION_ERROR" };
export const done: Expected = { status: 204 };

/**
 * Selects one of the present or former things for a step; the largest number selects one that never existed.
 */
export const place = fc.nat({ max: 23 });
const STRANGER = 23;
export const text = fc.constantFrom("Ada", "  Grace  ", "Ünïcode 🚪", "x".repeat(128), "🚪".repeat(128));
const WRONG_TEXTS = ["", "   ", "a\u0000b", "a\nb", "x".repeat(129), "\ud800", 7, true, ["Ada"]];
/** Generates mostly a valid name. */
export const anyText = fc.oneof({ weight: 9, arbitrary: text }, fc.constantFrom<unknown>(...WRONG_TEXTS));
export const role = fc.option(fc.constantFrom(...Object.keys(ROLE_LABELS)), { nil: undefined });

/** Generates mostly a valid value. */
export const mostly = (good: unknown[], wrong: unknown[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...wrong));

export function isText(value: unknown): value is string {
  return typeof value === "string" && !WRONG_TEXTS.includes(value);
}

/** Returns one of the ids, newer ones first, because related steps follow one another. */
export function pick(ids: Iterable<string>, index: number): string {
  const all = [...ids].reverse();
  return index === STRANGER ? NOBODY : (all[index % Math.max(all.length, 1)] ?? NOBODY);
}

/** Returns mostly a present id, otherwise a former one. */
function pickLiving(ids: Iterable<string>, past: Iterable<string>, index: number): string {
  return pick(index % 6 === 5 ? past : ids, index);
}

export const aPerson = (model: Model, index: number) =>
  pickLiving(model.people.keys(), model.past.people, index);

export const anOrganization = (model: Model, index: number) =>
  pickLiving(model.organizations.keys(), model.past.organizations, index);

/** Lists what belongs to an organization. Path and answer have the same word for it. */
export const listOf = (things: string, shown: (model: Model, organization: string) => unknown[]) =>
  place.map(
    (which): Step => ({
      name: `${things} of organization ${which}`,
      plan(model) {
        const id = anOrganization(model, which);
        return {
          method: "GET",
          path: `/organizations/${id}/${things}?limit=100`,
          settle() {
            if (!model.organizations.has(id)) return notFound;
            return { status: 200, body: { [things]: shown(model, id), has_more: false } };
          },
        };
      },
    }),
  );

/** Returns mostly the organization that something belongs to. */
export const organizationOf = (model: Model, owned: { organization: string } | undefined, index: number) =>
  index % 6 !== 5 && owned ? owned.organization : anOrganization(model, index);
