export * from "./event.ts";
export * from "./headers.ts";
export * from "./proof.ts";
export * from "./shown-event.ts";
