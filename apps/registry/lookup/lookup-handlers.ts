import { Lookup, type NearestRoute, Roles } from "@ostiary/lib/contracts/registry-api";
import { ApiError } from "@ostiary/lib/domain/errors";
import { limitsOf, policyIn, shownLimit } from "@ostiary/lib/domain/ratelimit";
import {
  type CompiledRoute,
  METHODS,
  MethodName,
  namedParams,
  nearestRoutes,
  PlanName,
  parsedPath,
  type RouteMatch,
  type StoredRoute,
} from "@ostiary/lib/domain/routes";
import type { DocumentedError } from "@ostiary/lib/openapi";
import { describeOperations } from "@ostiary/lib/openapi";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { callerLabels, callerParameters, decisionOn } from "./caller-decision.ts";
import type { CurrentTable } from "./current-table.ts";

const operations = describeOperations({
  listRoles: ["List the roles for lookups", "The roles of the registry's ROLES_FILE, as read at its start."],
  findRoute: [
    "Find the route that serves a request",
    "Matches as the gateway does, against the current services. If no route matches, `details.nearest` lists the closest routes. With `role` or `labels`, the response tells whether a member with that role or those labels may use the route.",
  ],
});

const query = Type.Object(
  {
    method: Type.Union(MethodName.anyOf, {
      description: "The request's method.",
      rule: `must be one of ${METHODS.join(", ")}`,
      examples: ["GET"],
    }),
    path: Type.String({
      pattern: "^/",
      description: "The request's path. A query is ignored.",
      rule: "must be a path that starts with /",
      examples: ["/org/widgets/42"],
    }),
    plan: Type.Optional(
      Type.String({
        pattern: PlanName.pattern,
        rule: PlanName.rule,
        description: "Adds the limits of an organization with this plan.",
        examples: ["pro"],
      }),
    ),
    ...callerParameters,
  },
  { additionalProperties: false },
);

const noRoute = {
  code: "NOT_FOUND",
  message: "No route serves GET /org/widget.",
  details: {
    resource: "route",
    id: "GET /org/widget",
    nearest: [{ service: "widgets", scope: "organization", method: "GET", path: "/org/widgets" }],
  },
} as const satisfies DocumentedError;

/**
 * Serves `GET /routes`, which finds the route of a request and decides who may use it (RG-73, RG-75), and
 * `GET /roles` (RG-106).
 */
export function lookupHandlers(current: CurrentTable, roles: RolesFile | null) {
  const known = [...(roles?.roles ?? [])].map(([slug, labels]) => ({ slug, labels: [...labels] }));
  const listed = { roles: known.sort((one, other) => (one.slug < other.slug ? -1 : 1)) };
  const app = new Elysia({ name: "lookup", normalize: false, tags: ["Routes"] }).get("/roles", () => listed, {
    query: noQuery,
    response: { 200: Roles, ...operatorErrors() },
    detail: operations.listRoles,
  });
  return app.get(
    "/routes",
    async ({ query: { method, path, plan, ...caller } }) => {
      const labels = callerLabels(caller, roles);
      const table = await current.read();
      const requested = parsedPath(path);
      const match = table.match(method, requested);
      if (match !== null) {
        const found = { ...describe(match, current.rowOf(match.route)), ...limitsFor(match.route, plan) };
        return labels === null ? found : { ...found, ...decisionOn(match.route, labels) };
      }
      throw new ApiError("NOT_FOUND", {
        message: `No route serves ${method} ${requested}.`,
        details: {
          resource: "route",
          id: `${method} ${requested}`,
          nearest: nearestRoutes(table, requested).map(
            ({ service, scope, method, path }): NearestRoute => ({ service, scope, method, path }),
          ),
        },
      });
    },
    {
      query,
      response: {
        200: Lookup,
        ...operatorErrors(noRoute),
      },
      detail: operations.findRoute,
    },
  );
}

function describe(match: RouteMatch, row: StoredRoute | undefined): Lookup {
  const { service, scope, path, method, audited } = match.route;
  return {
    service,
    scope,
    path,
    method,
    params: namedParams(match),
    required_labels: row?.required_labels ?? null,
    rate_limit: row?.rate_limit ?? null,
    audit: audited,
    timeout_ms: row?.timeout_ms ?? null,
    max_body_bytes: row?.max_body_bytes ?? null,
    upstream: row?.upstream ?? null,
  };
}

/**
 * Returns the rate limits of a route for an organization with `plan`. Returns no limits if `plan` is undefined, or if
 * the gateway's default limit applies to the route.
 */
function limitsFor(
  { rate_limit, bucketPrefix }: CompiledRoute,
  plan: string | undefined,
): Pick<Lookup, "limits"> {
  if (plan === undefined || rate_limit === "fallback") return {};
  if (rate_limit === null) return { limits: [] };
  if ("requests" in rate_limit) {
    const { requests, window_seconds } = rate_limit;
    return { limits: [{ policy: policyIn(bucketPrefix), requests, window_seconds }] };
  }
  return { limits: limitsOf(rate_limit, plan).map(shownLimit) };
}
