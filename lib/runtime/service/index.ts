export * from "./listeners.ts";
export * from "./main.ts";
export * from "./serve.ts";
export * from "./service.ts";
