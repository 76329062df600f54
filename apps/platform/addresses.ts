import { localOrigin } from "@ostiary/lib/runtime/service";
import type { PlatformConfig } from "./config.ts";

/** `http://host:port` as this machine reaches it. */
export function origin(config: PlatformConfig, port: number): string {
  return localOrigin(config.HOST, port);
}
