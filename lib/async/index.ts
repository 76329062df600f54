export * from "./clock.ts";
export * from "./deadline.ts";
export * from "./loop.ts";
export * from "./semaphore.ts";
export * from "./slices.ts";
export * from "./tick-clock.ts";
export * from "./turn-batch.ts";
