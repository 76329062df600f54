/** Messages for fields of route configuration that do not match their schema. */
import { joinWords, quoted } from "../errors/index.ts";
import { isRecord } from "../json/index.ts";
import {
  BODY_BYTES_MAX,
  DOCUMENT_BYTES_MAX,
  DOCUMENT_PATH_BYTES_MAX,
  LABEL_LENGTH_MAX,
  LABELS_MAX,
  PATH_BYTES_MAX,
  PLANS_MAX,
  POLICY_NAME_LENGTH_MAX,
  RATE_LIMIT_WINDOW_SECONDS_MAX,
  ROUTE_LIMITS_MAX,
  SERVICE_CONFIG_BYTES_MAX,
  SERVICE_NAME_LENGTH_MAX,
  TEST_LABELS_MAX,
  TEST_NAME_LENGTH_MAX,
  TESTS_MAX,
  TIMEOUT_MS_MAX,
  UPSTREAM_BYTES_MAX,
} from "./maximum-sizes.ts";
import { CONSTRAINTS, METHODS, SCOPES } from "./methods-and-scopes.ts";
import { descriptionPathMessage, serviceUrlMessage } from "./service-url.ts";

const CHARACTERS = "characters: lower-case letters, digits, `:`, `.`, `_` and `-`.";
const ONE_METHOD = `methods must name at least one of ${joinWords(METHODS)}.`;
const OMIT_LABELS = "leave required_labels out to let every admitted caller pass.";
const LIMIT_NUMBERS = "{requests, window_seconds} or {requests, period}";
const LIMITS = `false for no limit, ${LIMIT_NUMBERS}, the name of a policy of this service, or a list of these`;

export const NAMED_BY_DOTS = "A service cannot be named `.` or `..`: no URL could address it.";
export const SERVICE_TOO_LARGE = `A service can have at most ${SERVICE_CONFIG_BYTES_MAX} bytes of JSON: split the service into several.`;
export const DOCUMENT_TOO_LARGE = `The services of a document can have at most ${DOCUMENT_BYTES_MAX} bytes of JSON in stored form: send several documents.`;
export const PATH_TOO_LONG = `A path can have at most ${PATH_BYTES_MAX} bytes, including the route_prefix.`;

export const TOO_MANY_TESTS = `A service can have at most ${TESTS_MAX} tests, including its tests from the top of the document.`;
export const testNamedTwice = (name: string) =>
  `Another test has the name ${quoted(name)}: choose another name.`;

/** Returns the message for a field that is missing or is not `what`. */
export const fieldMessage = (name: string, what: string) => (value: unknown) =>
  `${value === undefined ? `Set ${name}:` : `${name} must be`} ${what}.`;

export function windowMessage(value: unknown): string {
  const number = `a whole number above 0, at most ${RATE_LIMIT_WINDOW_SECONDS_MAX}`;
  return value === undefined
    ? `Set window_seconds: ${number}; or set period: day or month.`
    : `window_seconds must be ${number}.`;
}

export const noPolicyMessage = (name: string) =>
  `This service has no policy ${quoted(name)}: define it under rate_limits.`;

/** The messages by field. A function receives the wrong value, or undefined for a missing one. */
export const messages = {
  document: "A configuration document must be an object with services, a map from names to services.",
  service: `A service must be an object with url and at least one of ${joinWords(SCOPES)}.`,
  services: "Set services to a map from names to services, with at least one service.",
  service_name: `A service's name must have 1 to ${SERVICE_NAME_LENGTH_MAX} characters: letters, digits, \`.\`, \`_\` and \`-\`.`,
  policyName: `A policy's name must have 1 to ${POLICY_NAME_LENGTH_MAX} ${CHARACTERS}`,
  label: (value: unknown) =>
    value === "*"
      ? "A route cannot require `*`, which gives a role access to every route."
      : `A label must have 1 to ${LABEL_LENGTH_MAX} ${CHARACTERS}`,
  required_labels: (value: unknown) => {
    if (!Array.isArray(value)) return `required_labels must be a list of labels; ${OMIT_LABELS}`;
    if (value.length === 0) return `required_labels must name at least one label; ${OMIT_LABELS}`;
    return `required_labels can have at most ${LABELS_MAX} labels.`;
  },
  rate_limit: (value: unknown) => {
    if (typeof value === "string") return noPolicyMessage(value);
    if (value !== true) return `rate_limit must be ${LIMITS}.`;
    return `rate_limit cannot be true: write ${LIMITS}; leave rate_limit out for the default limit.`;
  },
  listedLimit: (value: unknown) =>
    typeof value === "string"
      ? noPolicyMessage(value)
      : `Each limit of a list must be ${LIMIT_NUMBERS}, or the name of a policy of this service.`,
  limitList: `A list of limits must have 1 to ${ROUTE_LIMITS_MAX} limits; write false for no limit.`,
  plans: `plans must be a map from the names of 1 to ${PLANS_MAX} plans to {requests, window_seconds?}, or to false for no limit.`,
  planLimit: "The limit of a plan must be {requests, window_seconds?}, or false for no limit.",
  charge: "charge must be success; leave charge out to count every request.",
  method: (value: unknown) => {
    if (isRecord(value)) {
      return "A list of methods can have only names: to give a method its own fields, write all methods as a map.";
    }
    const upper = typeof value === "string" ? value.toUpperCase() : "";
    if (METHODS.some((method) => method === upper))
      return `Write the method in upper case: ${quoted(upper)}.`;
    return `A method must be one of ${joinWords(METHODS)}.`;
  },
  methodConfig: `A method of a map can have ${joinWords(CONSTRAINTS)}, or no fields.`,
  methodList: (value: unknown) =>
    Array.isArray(value) ? ONE_METHOD : fieldMessage("methods", "a list of methods")(value),
  methodMap: ONE_METHOD,
  path: (value: unknown) => {
    if (typeof value === "string" && value.startsWith("/")) return PATH_TOO_LONG;
    const missing = value === undefined ? "Set path: " : "";
    return `${missing}A path must be \`/\` or start with \`/\`, such as \`/widgets/{widget_id}\`.`;
  },
  upstream: (value: unknown) => {
    if (typeof value !== "string") {
      return "upstream must be an absolute path; leave upstream out to pass the request's path on unchanged.";
    }
    if (!value.startsWith("/")) return "upstream must be an absolute path, which starts with `/`.";
    if (value.length > UPSTREAM_BYTES_MAX) return `upstream can have at most ${UPSTREAM_BYTES_MAX} bytes.`;
    if (value.includes("?"))
      return "upstream cannot contain `?`: the query of the request is passed on unchanged.";
    return "upstream cannot contain `#`: a fragment is never sent.";
  },
  tests: (value: unknown) =>
    Array.isArray(value) ? TOO_MANY_TESTS : "tests must be a list of {name, method, path, expect}.",
  testName: `Set name: the name of the test, 1 to ${TEST_NAME_LENGTH_MAX} characters without control characters.`,
  testPath: (value: unknown) =>
    typeof value === "string" && /[?#]/.test(value)
      ? "The path of a test cannot have a query or a fragment."
      : `Set path: the path of a request, of at most ${PATH_BYTES_MAX} visible ASCII characters, that starts with \`/\`.`,
  testRole: `role must be the slug of a role: 1 to ${LABEL_LENGTH_MAX} ${CHARACTERS}`,
  testLabel: `A label must have 1 to ${LABEL_LENGTH_MAX} ${CHARACTERS} \`*\` stands for all labels.`,
  testLabels: `labels must be a list of at most ${TEST_LABELS_MAX} labels.`,
  expect: "Set expect to at least one of service, upstream, allowed and requests, or to status: 404.",
  expectedUpstream:
    "upstream must be the path that the gateway calls: visible ASCII characters, starting with `/`, with `{subject.…}` for an owner's id.",
  expectedAllowed: "allowed must be true or false.",
  expectedRequests: "requests must be a whole number above 0, or false for no limit.",
  expectedStatus: "status must be 404, for a request that no route serves.",
  timeout_ms: `timeout_ms must be a whole number of milliseconds from 1 to ${TIMEOUT_MS_MAX}; leave timeout_ms out for the default.`,
  max_body_bytes: `max_body_bytes must be a whole number of bytes from 0 to ${BODY_BYTES_MAX}; 0 means no limit. Leave max_body_bytes out for the default.`,
  openapi: (value: unknown) => {
    if (typeof value === "string" && value.length > DOCUMENT_PATH_BYTES_MAX) {
      return `openapi can have at most ${DOCUMENT_PATH_BYTES_MAX} bytes.`;
    }
    return descriptionPathMessage(value);
  },
  url: (value: unknown) => {
    if (typeof value === "string") return serviceUrlMessage(value);
    const missing = value === undefined || value === null;
    return `${missing ? "Set url to" : "url must be"} \`http://host:port\`, such as \`http://widgets:8080\`.`;
  },
};
