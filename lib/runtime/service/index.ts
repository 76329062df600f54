export * from "./certificate.ts";
export * from "./listen.ts";
export * from "./main.ts";
export * from "./ports.ts";
export * from "./public-port.ts";
export * from "./runtime-variables.ts";
export * from "./serve.ts";
export * from "./service.ts";
