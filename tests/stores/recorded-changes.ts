import type { RouteChange, RouteStore } from "@ostiary/lib/runtime/stores/route-store";

/** Watches a prefix, and records all changes and interruptions. */
export async function recordChanges(store: RouteStore, prefix: string) {
  const changes: RouteChange[] = [];
  let interruptions = 0;
  const watch = await store.watch(prefix, {
    changed: (more) => changes.push(...more),
    interrupted: () => {
      interruptions += 1;
    },
  });
  return {
    changes,
    interruptions: () => interruptions,
    /** Returns the number of changes and interruptions. Either shows that the watch works. */
    calls: () => changes.length + interruptions,
    close: () => watch.close(),
  };
}
