/** Generators of random route configuration: paths, valid documents and hostile values. */
import { METHODS, SCOPES, type Scope, SUBJECT_FIELDS } from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import { wordsOf } from "../../support/words.ts";

/** The literal segments. There are only a few, so that random routes and requests often match. */
const literal = fc.constantFrom("a", "b", "c", "a.b", "%20");

/** The segments of a path: literals, or null for a param. */
export const segments = fc.array(fc.option(literal, { freq: 2 }), { maxLength: 5 });

/** Returns segments as a path. The name of a param consists of `name` and the index of the segment. */
export function spell(parts: readonly (string | null)[], name = "p"): string {
  return `/${parts.map((part, index) => part ?? `{${name}${index}}`).join("/")}`;
}

const label = fc.stringMatching(/^[a-z0-9:._-]{1,64}$/);
const count = fc.integer({ min: 1, max: 1_000_000 });
const planName = fc.constantFrom("pro", "free", "__proto__", "constructor");
const window = fc.oneof(
  fc.record({ window_seconds: count }),
  fc.record({ period: fc.constantFrom("day", "month") }),
);
const planNumbers = fc.oneof(fc.constant(false), fc.record({ requests: count }));
const charge = fc.constantFrom({}, { charge: "success" });

/** Generates the numbers of a limit, sometimes with plans if `hasPlans` is set. */
function numbersOf(hasPlans: boolean) {
  const entries = fc.uniqueArray(fc.tuple(planName, planNumbers), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  });
  const plans = hasPlans ? fc.option(entries, { nil: undefined }) : fc.constant(undefined);
  return fc.tuple(count, window, charge, plans).map(([requests, length, charged, own]) => ({
    requests,
    ...length,
    ...charged,
    ...(own !== undefined && { plans: Object.fromEntries(own) }),
  }));
}
const numbers = numbersOf(false);
const policyName = fc.constantFrom("burst", "a:b", "__proto__", "x.y-z", "constructor");

function constraints(scope: Scope, policies: readonly string[]) {
  const names = policies.length === 0 ? [] : [fc.constantFrom(...policies)];
  const inline = numbersOf(scope === "organization" || scope === "member");
  const listed = fc.uniqueArray(fc.oneof(inline, ...names), {
    minLength: 1,
    maxLength: 3,
    selector: (limit) => {
      if (typeof limit === "string") return limit;
      return "period" in limit ? limit.period : limit.window_seconds;
    },
  });
  return fc.record(
    {
      required_labels: fc.uniqueArray(label, { minLength: 1, maxLength: 4 }),
      rate_limit: fc.oneof(fc.constant(false), inline, ...names, listed),
      ...(scope === "public" ? {} : { audit: fc.boolean() }),
    },
    { requiredKeys: [] },
  );
}

function upstreamOf(scope: Scope, parts: readonly (string | null)[]) {
  const params = parts.flatMap((part, index) => (part === null ? [`{path.p${index}}`] : []));
  const subjects = SUBJECT_FIELDS[scope].map((field) => `{subject.${field}}`);
  const part = fc.constantFrom("v1", "Up.Case", "x-", ...params, ...subjects);
  return fc.array(part, { maxLength: 4 }).map((chosen) => `/${chosen.join("/")}`);
}

function methodsAndConstraints(scope: Scope, policies: readonly string[], free: readonly string[]) {
  const constraint = constraints(scope, policies);
  const chosen = fc.subarray([...free], { minLength: 1 });
  const asList = fc.tuple(chosen, constraint).map(([methods, more]) => ({ methods, ...more }));
  const asMap = chosen.chain((methods) =>
    fc.tuple(...methods.map(() => fc.oneof(fc.constant(null), constraint))).map((bodies) => ({
      methods: Object.fromEntries(methods.map((method, index) => [method, bodies[index]])),
    })),
  );
  return fc.oneof(asList, asMap);
}

/** Generates the optional timeout and size of a route or a service. */
const bounds = fc.record(
  {
    timeout_ms: fc.integer({ min: 1, max: 600_000 }),
    max_body_bytes: fc.maxSafeNat().map((bytes) => bytes % 1_099_511_627_777),
  },
  { requiredKeys: [] },
);

/** Generates the routes of one scope, below `/<root>/<scope>` so that scopes and services do not collide. */
function scopeConfig(scope: Scope, root: string, policies: readonly string[]) {
  const usePrefix = fc.boolean();
  const paths = fc.uniqueArray(segments, { maxLength: 4, selector: (parts) => spell(parts) });
  return fc.tuple(usePrefix, paths).chain(([prefix, all]) =>
    fc
      .tuple(
        ...all.map((parts) => {
          const full = [root, scope, ...parts];
          const written = spell(parts.map((part, index) => part ?? `{p${index + 2}}`));
          return fc
            .tuple(
              methodsAndConstraints(scope, policies, METHODS),
              fc.option(upstreamOf(scope, full)),
              bounds,
            )
            .map(([rest, upstream, own]) => ({
              ...own,
              path: prefix
                ? written
                : parts.length === 0
                  ? `/${root}/${scope}`
                  : `/${root}/${scope}${written}`,
              ...(upstream !== null && { upstream }),
              ...rest,
            }));
        }),
      )
      .map((routes) => ({ ...(prefix && { route_prefix: `/${root}/${scope}//` }), routes })),
  );
}

function serviceConfig(root: string) {
  const policies = fc.uniqueArray(policyName, { maxLength: 3 });
  return fc.tuple(policies, fc.subarray([...SCOPES], { minLength: 1 })).chain(([names, scopes]) =>
    fc
      .tuple(
        fc.tuple(...names.map(() => numbers)),
        fc.tuple(...scopes.map((scope) => scopeConfig(scope, root, names))),
        fc.option(fc.constantFrom("/openapi.json", "/docs?v=1")),
        bounds,
      )
      .map(([values, configs, openapi, own]) => ({
        url: "http://upstream:8080",
        ...own,
        ...(openapi !== null && { openapi }),
        ...(names.length > 0 && {
          rate_limits: Object.fromEntries(names.map((name, index) => [name, values[index]])),
        }),
        ...Object.fromEntries(scopes.map((scope, index) => [scope, configs[index]])),
      })),
  );
}

/** Generates valid configuration documents whose services own different routes. */
export const document = fc
  .uniqueArray(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,6}$/), { minLength: 1, maxLength: 4 })
  .chain((names) =>
    fc.tuple(...names.map(serviceConfig)).map((configs) => ({
      services: Object.fromEntries(names.map((name, index) => [name, configs[index]])),
    })),
  );

const FIELDS = [
  ...wordsOf(`
    services url openapi public user organization member routes route_prefix path upstream methods GET POST
    required_labels rate_limit rate_limits audit timeout_ms max_body_bytes requests window_seconds shared
    __proto__ constructor toString 0
  `),
  "",
];
const STRINGS = "/ // /{ /{a} /A/ /% http://a:1 http:// https://a:1 GET get * {path.a} burst".split(" ");

/** Generates any value, mostly from words of the schema, so that it reaches deep into the validation. */
export const hostile = fc.letrec<{ value: unknown; object: unknown; list: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "large", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e300, Number.NaN, undefined, 10n, ...STRINGS),
    fc.string({ unit: "binary", maxLength: 20 }),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
  object: fc
    .array(
      fc.tuple(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...FIELDS) }, fc.string()), tie("value")),
      { maxLength: 8 },
    )
    .map((entries) => Object.fromEntries(entries)),
})).value;
