import { ApiError } from "@ostiary/lib/domain/errors";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import { contextOf } from "@ostiary/lib/runtime/http";
import { CredentialRefusal } from "@ostiary/lib/runtime/tokens";
import type { Operators } from "./operators.ts";

const BEARER = /^bearer +(\S+) *$/i;

const callers = new WeakMap<Request, Operator>();

/** Returns the operator who sent a request that {@link admitOperator} admitted. */
export function operatorOf(request: Request): Operator {
  const operator = callers.get(request);
  if (operator === undefined) throw new Error("The request did not pass the check of its token.");
  return operator;
}

const MISSING = new CredentialRefusal("missing", "The registry requires Authorization: Bearer.");

/**
 * Finds the operator of the request's token, and stores the operator for {@link operatorOf}. Returns null on success,
 * otherwise the reason why no operator has this token (RG-1).
 *
 * @throws ApiError 503 for a JWT while the identity provider's keys are not loaded
 */
export async function admitOperator(
  request: Request,
  operators: Pick<Operators, "identify">,
): Promise<CredentialRefusal | null> {
  const token = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
  if (token === undefined) return MISSING;
  const found = await operators.identify(token);
  if (found instanceof CredentialRefusal) return found;
  callers.set(request, found.operator);
  const { subject } = contextOf(request);
  subject.operator = found.operator.name;
  if (found.subject !== null) subject.operator_subject = found.subject;
  return null;
}

/** Refuses every write of a reader before the body is read (RG-113). Allows dry runs, which write nothing. */
export function refuseWriteOfReader(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const operator = operatorOf(request);
  if (operator.role !== "reader") return;
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/apply" && searchParams.get("dry_run") === "true") return;
  throw readerRefused(operator);
}

/** Returns the 403 for a write by an operator with the role reader. */
export function readerRefused({ name }: Operator): ApiError {
  return new ApiError("FORBIDDEN", {
    message: `Operator ${name} is a reader and cannot write. Nothing was written.`,
    details: { operator: name, required_role: "publisher", missing: [] },
  });
}
