import { databaseUsesTls, type PeerTls, renewingOptions } from "../../config/index.ts";

/**
 * Returns the driver's `ssl` option for the server of `url`. The option always verifies certificates; only
 * one of the driver's own modes verifies them.
 */
export function serverTls(url: string, tls: PeerTls | undefined) {
  return databaseUsesTls(url) && (tls === undefined ? {} : renewingOptions(tls));
}
