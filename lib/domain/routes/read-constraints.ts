/** Reads what may be set per route or verb: labels, limit, audit (Gateway specification, MethodConfig, rule 9). */

import { TypeCompiler } from "@sinclair/typebox/compiler";
import { isRecord } from "../json/index.ts";
import { LABEL_LENGTH_MAX, LABELS_MAX, POLICY_NAME_LENGTH_MAX } from "./limits.ts";
import { memberPath, quoted, type Report, refuseUnknown } from "./report.ts";
import {
  InlineRateLimit,
  Label,
  type MethodConfig,
  PolicyName,
  RateLimitPolicy,
  RateLimitRequests,
  RateLimitWindow,
  type RouteRateLimit,
  type Scope,
} from "./schema.ts";

// compiled, since a document may have hundreds of thousands of them
const isLabel = TypeCompiler.Compile(Label);
const isPolicyName = TypeCompiler.Compile(PolicyName);
const isRateLimitRequests = TypeCompiler.Compile(RateLimitRequests);
const isRateLimitWindow = TypeCompiler.Compile(RateLimitWindow);

/** What a reader of a route needs to know of the service around it. */
export interface RouteContext {
  readonly scope: Scope;
  /** The names under the service's rate_limits, also of policies that are themselves wrong. */
  readonly policyNames: ReadonlySet<string>;
  /** Whether a map of methods is allowed: not in the stored form. */
  readonly allowMethodMap: boolean;
  /** What the service's rows have in full paths so far: a long prefix makes much of little. */
  readonly expanded: { path_bytes: number };
  readonly report: Report;
}

/** The names of the fields that {@link readConstraints} reads. */
export const CONSTRAINTS = ["required_labels", "rate_limit", "audit"] as const;

/** Reads the three fields of a MethodConfig from `value`, which may hold others. */
export function readConstraints(
  value: Readonly<Record<string, unknown>>,
  at: string,
  context: RouteContext,
): MethodConfig {
  const required_labels = readLabels(
    value.required_labels,
    memberPath(at, "required_labels"),
    context.report,
  );
  const rate_limit = readRateLimit(value.rate_limit, memberPath(at, "rate_limit"), context);
  const audit = readAudit(value.audit, memberPath(at, "audit"), context);
  return {
    ...(required_labels !== undefined && { required_labels }),
    ...(rate_limit !== undefined && { rate_limit }),
    ...(audit !== undefined && { audit }),
  };
}

/** Reads one entry of rate_limits. */
export function readPolicy(value: unknown, at: string, report: Report): RateLimitPolicy | undefined {
  const limit = readLimitNumbers(value, at, "A policy", Object.keys(RateLimitPolicy.properties), report);
  const shared = isRecord(value) ? value.shared : undefined;
  if (shared !== undefined && typeof shared !== "boolean") {
    report.add(memberPath(at, "shared"), "shared is true or false.");
    return undefined;
  }
  return limit && { ...limit, ...(shared !== undefined && { shared }) };
}

function readLabels(value: unknown, at: string, report: Report): string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    report.add(at, "required_labels is a list of labels; leave it out to let any admitted caller pass.");
    return undefined;
  }
  if (value.length === 0) {
    report.add(at, "required_labels names at least one label; leave it out to let any admitted caller pass.");
  }
  if (value.length > LABELS_MAX) report.add(at, `required_labels holds at most ${LABELS_MAX} labels.`);
  const labels = new Set<string>();
  for (const [index, label] of value.entries()) {
    if (report.isFull) break;
    readLabel(label, labels, `${at}[${index}]`, report);
  }
  return [...labels];
}

function readLabel(label: unknown, labels: Set<string>, at: string, report: Report): void {
  if (label === "*") {
    report.add(at, "A route can not require `*`: it is what a role holds to pass every route.");
  } else if (!isLabel.Check(label)) {
    report.add(
      at,
      `A label has 1 to ${LABEL_LENGTH_MAX} characters: lower-case letters, digits, \`:\`, \`.\`, \`_\` and \`-\`.`,
    );
  } else if (labels.has(label)) {
    report.add(at, `The label ${quoted(label)} is listed twice.`);
  } else {
    labels.add(label);
  }
}

function readRateLimit(value: unknown, at: string, context: RouteContext): RouteRateLimit | undefined {
  if (value === undefined || value === false) return value;
  if (typeof value === "string") return readPolicyName(value, at, context);
  if (isRecord(value)) {
    const known = Object.keys(InlineRateLimit.properties);
    return readLimitNumbers(value, at, "A limit of a route", known, context.report);
  }
  const choices = "false for no limit, {requests, window_seconds}, or the name of a policy of this service";
  context.report.add(
    at,
    value === true
      ? `rate_limit is never true: write ${choices}; leave it out for the default limit.`
      : `rate_limit is ${choices}.`,
  );
  return undefined;
}

function readPolicyName(name: string, at: string, context: RouteContext): string | undefined {
  if (context.policyNames.has(name)) return name;
  context.report.add(at, `This service has no policy ${quoted(name)}: define it under rate_limits.`);
  return undefined;
}

function readLimitNumbers(
  value: unknown,
  at: string,
  what: string,
  known: readonly string[],
  report: Report,
): InlineRateLimit | undefined {
  if (!isRecord(value)) {
    report.add(at, `${what} is an object {requests, window_seconds}.`);
    return undefined;
  }
  refuseUnknown(value, known, what, at, report);
  const { requests, window_seconds } = value;
  const isRequests = isRateLimitRequests.Check(requests);
  const isWindow = isRateLimitWindow.Check(window_seconds);
  if (!isRequests)
    report.add(memberPath(at, "requests"), numberMessage("requests", RateLimitRequests, requests));
  if (!isWindow) {
    report.add(
      memberPath(at, "window_seconds"),
      numberMessage("window_seconds", RateLimitWindow, window_seconds),
    );
  }
  return isRequests && isWindow ? { requests, window_seconds } : undefined;
}

function numberMessage(field: string, schema: { maximum?: number }, value: unknown): string {
  if (value === undefined) return `Set ${field}: a whole number above 0.`;
  return `${field} is a whole number above 0, at most ${schema.maximum}.`;
}

function readAudit(value: unknown, at: string, { scope, report }: RouteContext): boolean | undefined {
  if (value === undefined) return undefined;
  if (scope === "public") {
    report.add(at, "Public routes are never audited: leave audit out.");
    return undefined;
  }
  if (typeof value === "boolean") return value;
  report.add(at, "audit is true or false; leave it out for the default.");
  return undefined;
}

/** Why `name` can not name a policy; null when it can. */
export function policyNameFault(name: string): string | null {
  if (isPolicyName.Check(name)) return null;
  return `A policy's name has 1 to ${POLICY_NAME_LENGTH_MAX} characters: lower-case letters, digits, \`:\`, \`.\`, \`_\` and \`-\`.`;
}
