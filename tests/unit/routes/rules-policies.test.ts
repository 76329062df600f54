/** Tests of the validation of labels, limits and audit. */
import { pathsService } from "./fixtures.ts";
import { check, GET, route } from "./rules-suite.ts";

const POLICIES = { rate_limits: { burst: { requests: 5, window_seconds: 1 } } };
const ROUTE = "organization.routes[0]";
const labels = (value: unknown) => route({ ...GET, required_labels: value });
const limit = (value: unknown, scope = "organization", more: object = POLICIES) =>
  route({ ...GET, rate_limit: value }, scope, more);
const policy = (value: unknown, name = "burst") => ({ ...pathsService("/"), rate_limits: { [name]: value } });
const LABELS = `${ROUTE}.required_labels`;
const LIMIT = `${ROUTE}.rate_limit`;
const [REQUESTS, WINDOW] = [`${LIMIT}.requests`, `${LIMIT}.window_seconds`];
const PUBLIC = "public.routes[0]";

const BURST = "rate_limits.burst";
const PRO = `${LIMIT}.plans.pro`;
const withPlans = (plans: unknown) => limit({ ...MINUTE, plans });

const LONG = "x".repeat(65);
const LEFT_OUT = /leave window_seconds out/;
const ONLY_MEMBERS = /Only organization and member/;
const SECOND = { requests: 1, window_seconds: 1 };
const MINUTE = { requests: 1, window_seconds: 60 };
const MONTH = { requests: 1, period: "month" };
const plansOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`plan-${index}`, false]));
const PLANNED = { ...MINUTE, plans: plansOf(1) };

// RG-23, RG-24, RG-25, RG-26, RG-107, RG-108, RG-109
check(
  "the validation of labels, limits and audit",
  [
    ["one label", labels(["a:b.c_d-9"])],
    ["32 labels", labels(Array.from({ length: 32 }, (_, index) => `l${index}`))],
    ["a label of 64 characters", labels(["l".repeat(64)])],
    ["labels on a user route", route({ ...GET, required_labels: ["a"] }, "user")],
    ["an inline limit", limit(SECOND)],
    ["a policy's name", limit("burst")],
    ["a shared policy", policy({ ...SECOND, shared: true })],
    ["a local policy with shared: false", policy({ ...SECOND, shared: false })],
    ["a policy's name of 64 characters", policy(SECOND, "a:.-_9".padEnd(64, "x"))],
    ["a limit of a day", limit({ requests: 1, period: "day" })],
    ["a limit with plans", withPlans({ pro: { requests: 9, window_seconds: 2 }, free: false })],
    ["a quota with plans", limit({ requests: 1, period: "day", plans: { pro: { requests: 9 } } })],
    ["a limit with 32 plans", withPlans(plansOf(32))],
    ["plans on a member's route", limit(PLANNED, "member")],
    ["a limit that charges success", limit({ ...MINUTE, charge: "success" })],
    ["a list of three", limit(["burst", MINUTE, { requests: 9, period: "month" }])],
    ["a list on a public route", limit([MINUTE], "public")],
    ["no policies", { ...pathsService("/"), rate_limits: {} }],
    ["audit on", route({ ...GET, audit: true })],
  ],
  [
    ["labels as a string", labels("a"), LABELS, /a list of labels/],
    ["an empty list of labels", labels([]), LABELS, /at least one/],
    ["33 labels", labels(Array.from({ length: 33 }, (_, index) => `l${index}`)), LABELS, /at most 32/],
    ["the label *", labels(["*"]), `${LABELS}[0]`, /cannot require `\*`/],
    ["a label with *", labels(["widgets:*"]), `${LABELS}[0]`, /lower-case letters/],
    ["a label in upper case", labels(["Admin"]), `${LABELS}[0]`, /lower-case letters/],
    ["an empty label", labels([""]), `${LABELS}[0]`, /1 to 64/],
    ["a label of 65 characters", labels(["l".repeat(65)]), `${LABELS}[0]`, /1 to 64/],
    ["a label with a line break", labels(["a\n"]), `${LABELS}[0]`, /1 to 64/],
    ["a label that is not a string", labels(["a", 7]), `${LABELS}[1]`, /1 to 64/],
    ["a label twice", labels(["a", "b", "a"]), `${LABELS}[2]`, /twice/],
    ["true for a limit", limit(true), LIMIT, /cannot be true/],
    ["an empty list", limit([]), LIMIT, /1 to 3 limits/],
    ["a list of four", limit(["burst", SECOND, MINUTE, MONTH]), LIMIT, /1 to 3/],
    ["a list in a list", limit([["burst"]]), `${LIMIT}[0]`, /Each limit of a list/],
    ["false in a list", limit([false]), `${LIMIT}[0]`, /Each limit of a list/],
    ["an unknown policy in a list", limit(["burst", "other"]), `${LIMIT}[1]`, /no policy `other`/],
    ["a policy twice", limit(["burst", "burst"]), `${LIMIT}[1]`, /`burst` is listed twice/],
    ["one window twice", limit([MINUTE, { ...MINUTE, requests: 9 }]), `${LIMIT}[1]`, /the same window/],
    ["a wrong number in a list", limit([{ requests: 0, period: "day" }]), `${LIMIT}[0].requests`, /above 0/],
    ["a window and a period", limit({ ...MINUTE, period: "day" }), `${LIMIT}.period`, /not both/],
    ["a period of a week", limit({ requests: 1, period: "week" }), `${LIMIT}.period`, /day or month/],
    ["no plans", withPlans({}), `${LIMIT}.plans`, /1 to 32 plans/],
    ["33 plans", withPlans(plansOf(33)), `${LIMIT}.plans`, /1 to 32 plans/],
    ["plans as a list", withPlans(["pro"]), `${LIMIT}.plans`, /a map from the names/],
    ["a plan that no organization can have", withPlans({ Pro: false }), `${LIMIT}.plans.Pro`, /lower-case/],
    ["a plan of true", withPlans({ pro: true }), PRO, /or false for no limit/],
    ["a plan of 0 requests", withPlans({ pro: { requests: 0 } }), `${PRO}.requests`, /above 0/],
    ["a period of a plan", withPlans({ pro: MONTH }), `${PRO}.period`, /Unknown field/],
    [
      "a window beside a period",
      limit({ ...MONTH, plans: { pro: SECOND } }),
      `${PRO}.window_seconds`,
      LEFT_OUT,
    ],
    ["plans on a user route", limit(PLANNED, "user"), "user.routes[0].rate_limit.plans", ONLY_MEMBERS],
    ["plans in a public list", limit([PLANNED], "public"), `${PUBLIC}.rate_limit[0].plans`, ONLY_MEMBERS],
    [
      "a policy with plans on a public route",
      limit("burst", "public", { rate_limits: { burst: PLANNED } }),
      `${PUBLIC}.rate_limit`,
      /`burst` has plans/,
    ],
    ["a charge of everything", limit({ ...MINUTE, charge: "all" }), `${LIMIT}.charge`, /must be success/],
    ["an unknown policy", limit("other"), LIMIT, /no policy `other`/],
    ["a policy named like an inherited property", limit("constructor"), LIMIT, /no policy/],
    ["0 requests", limit({ requests: 0, window_seconds: 1 }), REQUESTS, /above 0/],
    ["a fraction", limit({ requests: 1.5, window_seconds: 1 }), REQUESTS, /whole number/],
    ["more requests than a counter can count", limit({ ...SECOND, requests: 1e300 }), REQUESTS, /at most/],
    ["no requests", limit({ window_seconds: 1 }), REQUESTS, /Set requests/],
    ["a window of 0", limit({ requests: 1, window_seconds: 0 }), WINDOW, /above 0/],
    ["a window of 2^31 s", limit({ ...SECOND, window_seconds: 2 ** 31 }), WINDOW, /at most 2147483647/],
    ["no window", limit({ requests: 1 }), WINDOW, /Set window_seconds/],
    ["a policy that is not an object", policy(5), BURST, /A policy must be an object/],
    ["shared as a string", policy({ ...SECOND, shared: "yes" }), `${BURST}.shared`, /true or false/],
    ["a policy's name in upper case", policy(SECOND, "Burst"), "rate_limits.Burst", /lower-case letters/],
    ["an empty policy's name", policy(SECOND, ""), "rate_limits.", /1 to 64/],
    ["a policy's name of 65 characters", policy(SECOND, LONG), `rate_limits.${LONG}`, /1 to 64/],
    ["policies as a list", { ...pathsService("/"), rate_limits: [] }, "rate_limits", /a map from names/],
    [
      "audit on a public route",
      route({ ...GET, audit: false }, "public"),
      `${PUBLIC}.audit`,
      /never audited/,
    ],
    ["audit as a string", route({ ...GET, audit: "yes" }), `${ROUTE}.audit`, /true or false/],
  ],
);
