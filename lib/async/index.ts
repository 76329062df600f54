export * from "./batches.ts";
export * from "./clock.ts";
export * from "./deadline.ts";
export * from "./loop.ts";
export * from "./read-bounded.ts";
export * from "./semaphore.ts";
export * from "./slices.ts";
export * from "./unstalled-clock.ts";
