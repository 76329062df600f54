/** The schemas of route tests (RG-145, RG-146). The rules between their fields are in `route-test-rules.ts`. */
import { type Static, Type } from "@sinclair/typebox";
import { RateLimitRequests } from "./limit-schema.ts";
import {
  LABEL_LENGTH_MAX,
  PATH_BYTES_MAX,
  TEST_LABELS_MAX,
  TEST_NAME_LENGTH_MAX,
  TESTS_MAX,
} from "./maximum-sizes.ts";
import { MethodName, PlanName, ServiceName } from "./name-schemas.ts";
import { SLUG_CHARACTERS, TOO_MANY_TESTS } from "./schema-messages.ts";

const NO_ROUTE = 404;

const ExpectedRequests = Type.Union([RateLimitRequests, Type.Literal(false)], {
  title: "ExpectedRequests",
  message: "requests must be a whole number above 0, or false for no limit.",
  description:
    "The number of requests that the route's limit admits, or false for an unlimited route. If the route has several limits, the smallest number.",
  examples: [100],
});

const Expectation = Type.Object(
  {
    service: Type.Optional(ServiceName),
    upstream: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2 * PATH_BYTES_MAX,
        pattern: "^/[!-~]*$",
        message:
          "upstream must be the path that the gateway calls: visible ASCII characters, starting with `/`, with `{subject.…}` for an owner's id.",
        description:
          "The path that the gateway calls on the service, with `{subject.…}` in place of an owner's id.",
        examples: ["/organizations/{subject.organization_id}/widgets/42"],
      }),
    ),
    allowed: Type.Optional(
      Type.Boolean({
        message: "allowed must be true or false.",
        description: "Whether a member with the role or labels of the test may use the route.",
      }),
    ),
    requests: Type.Optional(ExpectedRequests),
    status: Type.Optional(
      Type.Literal(NO_ROUTE, {
        message: "status must be 404, for a request that no route serves.",
        description: "404: no route serves the request. No other expectation is allowed.",
      }),
    ),
  },
  {
    additionalProperties: false,
    noun: "expect",
    minProperties: 1,
    message: "Set expect to at least one of service, upstream, allowed and requests, or to status: 404.",
    title: "Expectation",
    description: "The expected facts about the route that serves the request.",
    examples: [{ service: "widgets", allowed: true }],
  },
);

/** A test of the published routes, which looks up a request without sending it. */
export const RouteTest = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: TEST_NAME_LENGTH_MAX,
      pattern: "^[^\\x00-\\x1f\\x7f]+$",
      message: `Set name: the name of the test, 1 to ${TEST_NAME_LENGTH_MAX} characters without control characters.`,
      description: "The name of the test, shown when the test fails.",
      examples: ["members read widgets"],
    }),
    method: MethodName,
    path: Type.String({
      minLength: 1,
      maxLength: PATH_BYTES_MAX,
      pattern: '^/[!-"$->@-~]*$',
      message: (value: unknown) =>
        typeof value === "string" && /[?#]/.test(value)
          ? "The path of a test cannot have a query or a fragment."
          : `Set path: the path of a request, of at most ${PATH_BYTES_MAX} visible ASCII characters, that starts with \`/\`.`,
      description: "The path of the request, without a query.",
      examples: ["/org/widgets/42"],
    }),
    role: Type.Optional(
      Type.String({
        pattern: `^[a-z0-9:._-]{1,${LABEL_LENGTH_MAX}}$`,
        message: `role must be the slug of a role: 1 to ${LABEL_LENGTH_MAX} ${SLUG_CHARACTERS}`,
        description: "The role of the member for `allowed`: a slug of ROLES_FILE.",
        examples: ["admin"],
      }),
    ),
    labels: Type.Optional(
      Type.Array(
        Type.String({
          pattern: `^(\\*|[a-z0-9:._-]{1,${LABEL_LENGTH_MAX}})$`,
          message: `A label must have 1 to ${LABEL_LENGTH_MAX} ${SLUG_CHARACTERS} \`*\` stands for all labels.`,
          description: "A label, or `*`.",
          examples: ["widgets:read"],
        }),
        {
          maxItems: TEST_LABELS_MAX,
          message: `labels must be a list of at most ${TEST_LABELS_MAX} labels.`,
          description: "The labels of the member for `allowed`.",
        },
      ),
    ),
    plan: Type.Optional(PlanName),
    expect: Expectation,
  },
  {
    additionalProperties: false,
    noun: "A test",
    title: "RouteTest",
    description: "A test of the published routes: a request, and the expected route.",
    examples: [
      {
        name: "members read widgets",
        method: "GET",
        path: "/org/widgets/42",
        labels: ["widgets:read"],
        expect: { service: "widgets", allowed: true },
      },
    ],
  },
);
export type RouteTest = Static<typeof RouteTest>;

export const RouteTests = Type.Array(RouteTest, {
  maxItems: TESTS_MAX,
  message: (value: unknown) =>
    Array.isArray(value) ? TOO_MANY_TESTS : "tests must be a list of {name, method, path, expect}.",
  description: "Tests that must pass after each write. They are not sent to gateways.",
});
