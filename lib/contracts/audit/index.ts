export * from "./event.ts";
export * from "./intent-headers.ts";
export * from "./proof.ts";
export * from "./shown-event.ts";
