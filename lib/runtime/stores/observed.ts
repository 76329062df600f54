import type { StoreObserver } from "./observer.ts";

/** What a store knows about an operation before it begins. */
export interface OperationName {
  system: string;
  operation: string;
  namespace: string;
}

/** Runs `work` and tells `observer` how long it took and whether it failed. */
export async function observed<T>(
  observer: StoreObserver,
  name: OperationName,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let failed = true;
  try {
    const result = await work();
    failed = false;
    return result;
  } finally {
    observer({ ...name, duration_ms: performance.now() - started, failed });
  }
}
