export * from "./bounded-call.ts";
export { sentOnce } from "./sent-once.ts";
