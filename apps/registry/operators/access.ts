import { ApiError } from "@ostiary/lib/domain/errors";
import type { Operator } from "@ostiary/lib/runtime/config/operators-file";
import { contextOf } from "@ostiary/lib/runtime/http";
import type { Operators } from "./operators.ts";

const BEARER = /^bearer +(\S+) *$/i;

const callers = new WeakMap<Request, Operator>();

/** Returns the operator who sent a request that {@link admitOperator} admitted. */
export function operatorOf(request: Request): Operator {
  const operator = callers.get(request);
  if (operator === undefined) throw new Error("The request did not pass the check of its token.");
  return operator;
}

/**
 * Remembers the operator of the request's token, and returns whether there is one (RG-1). A request for an
 * open path may go on without.
 */
export function admitOperator(request: Request, operators: Operators): boolean {
  const token = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
  const operator = token === undefined ? null : operators.find(token);
  if (operator === null) return false;
  callers.set(request, operator);
  contextOf(request).subject.operator = operator.name;
  return true;
}

/** Refuses every write of a reader, before its body is read (RG-113). A dry run writes nothing. */
export function refuseWriteOfReader(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const operator = operatorOf(request);
  if (operator.role !== "reader") return;
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/apply" && searchParams.get("dry_run") === "true") return;
  throw readerRefused(operator);
}

/** Returns the 403 for a write of a reader. */
export function readerRefused({ name }: Operator): ApiError {
  return new ApiError("FORBIDDEN", {
    message: `Operator ${name} is a reader and cannot write. Nothing was written.`,
    details: { operator: name, required_role: "publisher", missing: [] },
  });
}
