import type { PlatformConfig } from "./config.ts";

/** `http://host:port` as this machine reaches it. */
export function origin(config: PlatformConfig, port: number): string {
  const anyAddress = config.HOST === "0.0.0.0" || config.HOST === "::";
  return `http://${anyAddress ? "127.0.0.1" : config.HOST}:${port}`;
}
