export * from "./semaphore.ts";
