import { type Static, Type } from "@sinclair/typebox";
import {
  MethodName,
  RequiredLabels,
  RoutePath,
  RouteRateLimit,
  ScopeName,
  ServiceName,
  UpstreamTemplate,
} from "../../domain/routes/index.ts";
import { nullable } from "../../domain/schemas/index.ts";

/** Which route serves a request, and whether a caller may send it (contract 3, Beyond the specification). */
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
      description: "A member needs one of these, or `*`; null: any admitted caller.",
    }),
    rate_limit: nullable(RouteRateLimit, { description: "As published; null: the gateway's default." }),
    audit: Type.Boolean({ description: "Whether requests are audited, the default worked in." }),
    upstream: nullable(UpstreamTemplate, {
      description: "The template of the upstream path; null: the request's path.",
    }),
    allowed: Type.Optional(
      Type.Boolean({
        description:
          "Whether a member with the role or the labels asked for may use the route. True on public and user routes, where labels do not count.",
      }),
    ),
    decided_by: Type.Optional(
      Type.Array(Type.String({ pattern: "^(\\*|[a-z0-9:._-]{1,64})$", examples: ["widgets:write"] }), {
        description:
          "Why: of the labels asked for those that let the member pass or, when it may not, those of which it would need one. Empty where the route requires none.",
        examples: [["widgets:write"]],
      }),
    ),
  },
  { title: "Lookup", description: "The route that serves a request." },
);
export type Lookup = Static<typeof Lookup>;

/** A route that comes close to a request that none serves: an entry of the 404's `details.nearest`. */
export const NearestRoute = Type.Pick(Lookup, ["service", "scope", "method", "path"], {
  title: "NearestRoute",
  description: "A route that comes close to a request that none serves.",
});
export type NearestRoute = Static<typeof NearestRoute>;
