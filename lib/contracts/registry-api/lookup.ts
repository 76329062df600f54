import { type Static, Type } from "@sinclair/typebox";
import {
  MaxBodyBytes,
  MethodName,
  PolicyName,
  RateLimitPeriod,
  RateLimitRequests,
  RateLimitWindow,
  RequiredLabels,
  RoutePath,
  RouteRateLimit,
  ScopeName,
  ServiceName,
  TimeoutMs,
  UpstreamTemplate,
} from "../../domain/routes/index.ts";
import { nullable } from "../../domain/schemas/index.ts";

/** The route that serves a request, and whether a caller may use it (RG-73, RG-75). */
export const Lookup = Type.Object(
  {
    service: ServiceName,
    scope: ScopeName,
    path: RoutePath,
    method: MethodName,
    params: Type.Record(Type.String(), Type.String(), {
      description: "The values of the path's params, as the request spells them.",
      examples: [{ widget_id: "42" }],
    }),
    required_labels: nullable(RequiredLabels, {
      description:
        "The labels of the route. A member needs one of them, or `*`. Null means that every admitted caller may use the route.",
    }),
    rate_limit: nullable(RouteRateLimit, {
      description: "The limit as published, or null for the gateway's default.",
    }),
    limits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            policy: nullable(PolicyName, {
              description: "The name of the policy, or null for a limit that is written at the route.",
            }),
            requests: RateLimitRequests,
            window_seconds: Type.Optional(RateLimitWindow),
            period: Type.Optional(RateLimitPeriod),
          },
          { title: "LimitOfPlan", description: "A limit with the numbers of the requested plan." },
        ),
        {
          description:
            "The limits of an organization with the requested plan. An empty list means no limit. The field is missing if no plan was requested, or if the gateway's default applies.",
        },
      ),
    ),
    audit: Type.Boolean({ description: "Whether requests are audited, with the default applied." }),
    timeout_ms: nullable(TimeoutMs, {
      description: "The timeout of the route or else of its service, or null for the gateway's default.",
    }),
    max_body_bytes: nullable(MaxBodyBytes, {
      description:
        "The maximum body size of the route or else of its service, or null for the gateway's default. 0 means no limit.",
    }),
    upstream: nullable(UpstreamTemplate, {
      description:
        "The template of the upstream path. Null means that the upstream path is the request's path.",
    }),
    allowed: Type.Optional(
      Type.Boolean({
        description:
          "Whether a member with the requested role or labels may use the route. True on public and user routes, which check no labels.",
      }),
    ),
    decided_by: Type.Optional(
      Type.Array(Type.String({ pattern: "^(\\*|[a-z0-9:._-]{1,64})$", examples: ["widgets:write"] }), {
        description:
          "The labels that admit the member, or, if the member is refused, the labels that would admit the member. Empty if the route requires no labels.",
        examples: [["widgets:write"]],
      }),
    ),
  },
  { title: "Lookup", description: "The route that serves a request." },
);
export type Lookup = Static<typeof Lookup>;

export const NearestRoute = Type.Pick(Lookup, ["service", "scope", "method", "path"], {
  title: "NearestRoute",
  description: "A published route that is similar to a request which no route matches.",
});
export type NearestRoute = Static<typeof NearestRoute>;
