import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { Counter } from "prom-client";

/** The result of a write that may be repeated. */
export type WriteResult = "created" | "existing";

/** Returns the schemas of the responses to a write that may be repeated, from a description of each. */
export function writeResponses(title: string, about: string, descriptions: Record<WriteResult, string>) {
  const response = <Result extends WriteResult>(result: Result) => {
    const description = descriptions[result];
    return Type.Object(
      { result: Type.Literal(result, { description: about }) },
      { title: `${title} ${result}`, description, response_description: description },
    );
  };
  return { 200: response("existing"), 201: response("created") };
}

/** Registers a counter with a series for each result, and returns the function that counts one (OP-50). */
export function resultCounter<Result extends string>(
  { registry }: Metrics,
  { name, help, results }: { name: string; help: string; results: readonly Result[] },
): (result: Result) => void {
  const counter = new Counter({ name, help, labelNames: ["result"] as const, registers: [registry] });
  for (const result of results) counter.inc({ result }, 0);
  return (result) => counter.inc({ result });
}
