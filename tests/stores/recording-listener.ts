import type { RouteChange, RouteListener } from "@ostiary/lib/runtime/stores/route-store";

/** A listener of a watch, and what it was told. */
export function recordingListener() {
  const changes: RouteChange[] = [];
  let interruptions = 0;
  const listener: RouteListener = {
    changed: (more) => changes.push(...more),
    interrupted: () => {
      interruptions += 1;
    },
  };
  return {
    listener,
    changes,
    interruptions: () => interruptions,
    /** Changes and interruptions together: after either, nothing is missed. */
    calls: () => changes.length + interruptions,
  };
}
