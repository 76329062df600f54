import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { Type } from "@sinclair/typebox";
import { operatorOf } from "../operators/access.ts";
import type { Publishing } from "../publishing/publish.ts";

const WAIT_MS_MAX = 30_000;

/** The parameter of writes whose answer can wait; see {@link waitedFor}. */
export const waitParameters = {
  wait_ms: Type.Optional(
    Type.String({
      pattern: "^([0-9]|[1-9][0-9]{1,3}|[12][0-9]{4}|30000)$",
      description:
        "The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve the write, which is recorded in any case.",
      rule: `must be a whole number from 0 to ${WAIT_MS_MAX}`,
      openapi: { type: "integer", minimum: 0, maximum: WAIT_MS_MAX },
    }),
  ),
};

export const waitQuery = Type.Object(waitParameters, { additionalProperties: false });

/** The result of a write, with its propagation if the caller waited. */
interface Waited<Result> {
  result: Result;
  propagation: Propagation | undefined;
}

/** Carries out a write of `services`, and then waits if the caller asked to wait. */
export async function waitedFor<Result>(
  publishing: Publishing,
  { services, wait_ms, request }: { services: readonly string[]; wait_ms?: string; request: Request },
  write: (publishing: Publishing) => Promise<Result>,
): Promise<Waited<Result>> {
  let committed_fence = 0;
  const onCommit = (fence: number) => {
    committed_fence = fence;
    publishing.onCommit(fence);
  };
  const result = await write({ ...publishing, onCommit });
  publishing.countWrites(operatorOf(request).name, services.length);
  if (wait_ms === undefined) return { result, propagation: undefined };
  const commit = { fence: committed_fence, services };
  const propagation = await publishing.propagations.wait(commit, Number(wait_ms), request.signal);
  return { result, propagation };
}
