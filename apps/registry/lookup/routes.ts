import { Lookup, type NearestRoute } from "@ostiary/lib/contracts/registry-api";
import { ApiError } from "@ostiary/lib/domain/errors";
import {
  type CompiledRoute,
  METHODS,
  MethodName,
  namedParams,
  nearestRoutes,
  type RouteMatch,
  type StoredRoute,
} from "@ostiary/lib/domain/routes";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import type { DocumentedError } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errors } from "../errors.ts";
import { callerLabels, callerParameters, decisionOn } from "./caller.ts";
import type { CurrentTable } from "./current-table.ts";

const NEAREST_MAX = 5;

const query = Type.Object(
  {
    method: Type.Union(MethodName.anyOf, {
      description: "The request's method.",
      rule: `must be one of ${METHODS.join(", ")}`,
      examples: ["GET"],
    }),
    path: Type.String({
      pattern: "^/",
      description: "The request's path. A query is left out of account.",
      rule: "must be a path that starts with /",
      examples: ["/org/widgets/42"],
    }),
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

/** `GET /routes`: which route would serve a request, and who may send it (contract 3, Beyond the specification). */
export function lookupRoutes(current: CurrentTable, roles: RolesFile | null) {
  return new Elysia({ name: "lookup", normalize: false }).get(
    "/routes",
    async ({ query: { method, path, ...caller } }) => {
      const labels = callerLabels(caller, roles);
      const table = await current.read();
      const requested = pathOf(path);
      const match = table.match(method, requested);
      if (match !== null) {
        const found = describe(match, current.rowOf(match.route));
        return labels === null ? found : { ...found, ...decisionOn(match.route, labels) };
      }
      throw new ApiError("NOT_FOUND", {
        message: `No route serves ${method} ${requested}.`,
        details: {
          resource: "route",
          id: `${method} ${requested}`,
          nearest: nearestRoutes(table, requested, NEAREST_MAX).map(place),
        },
      });
    },
    {
      query,
      response: {
        200: Lookup,
        ...errors(noRoute),
      },
      detail: {
        operationId: "findRoute",
        tags: ["Routes"],
        summary: "Find the route that serves a request",
        description:
          "Matches as the gateway does, against the services that are current in the registry. When no route matches, `details.nearest` lists those that come closest. With `role` or `labels` the answer tells whether a member who has them may use the route.",
      },
    },
  );
}

/** The path as the gateway sees it: parsed as a URL, without query and fragment. */
function pathOf(path: string): string {
  return new URL(`http://gateway${path.replace(/[?#].*$/s, "")}`).pathname;
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
    upstream: row?.upstream ?? null,
  };
}

function place({ service, scope, method, path }: CompiledRoute): NearestRoute {
  return { service, scope, method, path };
}
