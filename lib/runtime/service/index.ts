export * from "./main.ts";
export * from "./ports.ts";
export * from "./serve.ts";
export * from "./service.ts";
