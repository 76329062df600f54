import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { Type } from "@sinclair/typebox";
import { operatorOf } from "../operators/access.ts";
import type { Publishing } from "../publishing/publish.ts";

const WAIT_MS_MAX = 30_000;

/** The query parameter with which a write waits until gateways serve it; see {@link waitedFor}. */
export const waitParameters = {
  wait_ms: Type.Optional(
    Type.String({
      pattern: "^([0-9]|[1-9][0-9]{1,3}|[12][0-9]{4}|30000)$",
      description:
        "The maximum time in milliseconds to wait until every running gateway serves the write. `propagation` tells how many gateways serve it. The write is recorded even if the wait times out.",
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

/** Calls `write`, which changes `services`, and then waits until gateways serve the write if `wait_ms` is set. */
export async function waitedFor<Result>(
  publishing: Publishing,
  { services, wait_ms, request }: { services: readonly string[]; wait_ms?: string; request: Request },
  write: (publishing: Publishing) => Promise<Result>,
): Promise<Waited<Result>> {
  let committedFence = 0;
  const onCommit = (fence: number) => {
    committedFence = fence;
    publishing.onCommit(fence);
  };
  const result = await write({ ...publishing, onCommit });
  publishing.countWrites(operatorOf(request).name, services.length);
  if (wait_ms === undefined) return { result, propagation: undefined };
  const commit = { fence: committedFence, services };
  const propagation = await publishing.propagations.wait(commit, Number(wait_ms), request.signal);
  return { result, propagation };
}
