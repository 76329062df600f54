import { port, textOr } from "@ostiary/lib/config";
import { Type } from "@sinclair/typebox";

/** Where the demo's two servers listen when they run as a process of their own. */
export const demoVariables = Type.Object({
  HOST: textOr("127.0.0.1", "must be an address to bind, such as 127.0.0.1"),
  PORT: port(4000),
  IDENTITY_PROVIDER_PORT: port(4001),
});
