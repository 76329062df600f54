/** The schemas of rate limits: policies of a service and the limits of its routes (RG-24, RG-25). */
import { type Static, Type } from "@sinclair/typebox";
import { closedShape, mapOf } from "../schemas/index.ts";
import {
  PLANS_MAX,
  POLICY_NAME_LENGTH_MAX,
  RATE_LIMIT_REQUESTS_MAX,
  RATE_LIMIT_WINDOW_SECONDS_MAX,
  ROUTE_LIMITS_MAX,
} from "./maximum-sizes.ts";
import { PlanName } from "./name-schemas.ts";
import { fieldMessage, noPolicyMessage, SLUG_CHARACTERS, windowMessage } from "./schema-messages.ts";

const LIMIT_NUMBERS = "{requests, window_seconds} or {requests, period}";
const LIMITS = `false for no limit, ${LIMIT_NUMBERS}, the name of a policy of this service, or a list of these`;

export const PolicyName = Type.String({
  pattern: `^[a-z0-9:._-]{1,${POLICY_NAME_LENGTH_MAX}}$`,
  minLength: 1,
  maxLength: POLICY_NAME_LENGTH_MAX,
  message: `A policy's name must have 1 to ${POLICY_NAME_LENGTH_MAX} ${SLUG_CHARACTERS}`,
  title: "PolicyName",
  description: "The name of a policy in the service's rate_limits.",
  examples: ["burst"],
});

export const RateLimitRequests = Type.Integer({
  minimum: 1,
  maximum: RATE_LIMIT_REQUESTS_MAX,
  message: fieldMessage("requests", `a whole number above 0, at most ${RATE_LIMIT_REQUESTS_MAX}`),
  description: "Requests admitted in one window or period.",
  examples: [100],
});

export const RateLimitWindow = Type.Integer({
  minimum: 1,
  maximum: RATE_LIMIT_WINDOW_SECONDS_MAX,
  message: windowMessage,
  description: "Length of the window in seconds. The first request starts the window.",
  examples: [60],
});

export const RateLimitPeriod = Type.Union([Type.Literal("day"), Type.Literal("month")], {
  title: "RateLimitPeriod",
  message: fieldMessage("period", "day or month"),
  description: "A calendar day or month in UTC, in place of window_seconds.",
  examples: ["month"],
});

const NoRateLimit = Type.Literal(false, { title: "NoRateLimit", description: "`false`: no limit." });

const PlanNumbers = Type.Object(
  { requests: RateLimitRequests, window_seconds: Type.Optional(RateLimitWindow) },
  {
    ...closedShape("A limit of a plan"),
    title: "PlanNumbers",
    description:
      "The numbers for organizations with the plan. Without window_seconds, the window of the limit applies.",
  },
);

const PlanRateLimit = Type.Union([NoRateLimit, PlanNumbers], {
  title: "PlanRateLimit",
  message: "The limit of a plan must be {requests, window_seconds?}, or false for no limit.",
  description: "The limit of one plan: its own numbers, or `false` for no limit.",
  examples: [{ requests: 600 }, false],
});

/** The fields of a limit. A rule requires exactly one of `window_seconds` and `period`. */
const limitFields = {
  requests: RateLimitRequests,
  window_seconds: Type.Optional(RateLimitWindow),
  period: Type.Optional(RateLimitPeriod),
  plans: Type.Optional(
    mapOf(PlanName, PlanRateLimit, {
      minProperties: 1,
      maxProperties: PLANS_MAX,
      message: `plans must be a map from the names of 1 to ${PLANS_MAX} plans to {requests, window_seconds?}, or to false for no limit.`,
      description:
        "Limits by plan, on organization and member routes. An organization without a plan, or with a plan that is not listed here, has the limit's own numbers.",
      examples: [{ pro: { requests: 600 }, enterprise: false }],
    }),
  ),
  charge: Type.Optional(
    Type.Literal("success", {
      message: "charge must be success; leave charge out to count every request.",
      description:
        "`success`: a request that ends in a 5xx, or that does not reach its service, does not count.",
    }),
  ),
};

export const InlineRateLimit = Type.Object(limitFields, {
  ...closedShape("A limit of a route"),
  title: "InlineRateLimit",
  description: "A limit of one route. Each method of the route has its own bucket.",
});
export type InlineRateLimit = Static<typeof InlineRateLimit>;

const RateLimitList = Type.Array(
  Type.Union([InlineRateLimit, PolicyName], {
    title: "ListedRateLimit",
    message: (value: unknown) =>
      typeof value === "string"
        ? noPolicyMessage(value)
        : `Each limit of a list must be ${LIMIT_NUMBERS}, or the name of a policy of this service.`,
    description: "One of several limits of a route.",
  }),
  {
    minItems: 1,
    maxItems: ROUTE_LIMITS_MAX,
    title: "RateLimitList",
    message: `A list of limits must have 1 to ${ROUTE_LIMITS_MAX} limits; write false for no limit.`,
    description: "Limits that apply together: a request is admitted if none of them is exhausted.",
  },
);

export const RouteRateLimit = Type.Union([NoRateLimit, InlineRateLimit, PolicyName, RateLimitList], {
  title: "RouteRateLimit",
  message: (value: unknown) => {
    if (typeof value === "string") return noPolicyMessage(value);
    if (value !== true) return `rate_limit must be ${LIMITS}.`;
    return `rate_limit cannot be true: write ${LIMITS}; leave rate_limit out for the default limit.`;
  },
  description:
    "`false`: unlimited. Object: own limit. String: a policy of the service. List: several limits, each an object or a string. Omitted: the default.",
  examples: [{ requests: 100, window_seconds: 60 }, "burst", false],
});
export type RouteRateLimit = Static<typeof RouteRateLimit>;

export const RateLimitPolicy = Type.Object(
  {
    ...limitFields,
    shared: Type.Optional(
      Type.Boolean({
        description: "`true`: one bucket for all services that declare the name as shared.",
        message: "shared must be true or false.",
      }),
    ),
  },
  {
    ...closedShape("A policy"),
    title: "RateLimitPolicy",
    description: "A limit for all routes that name it.",
    examples: [{ requests: 1000, window_seconds: 60, shared: true }],
  },
);
export type RateLimitPolicy = Static<typeof RateLimitPolicy>;
