import { databaseUsesTls, type PeerTls, renewingOptions } from "../../config/index.ts";

/**
 * Returns the driver's `ssl` option for the server of `url`. The option always verifies certificates; only
 * one of the driver's own modes verifies them.
 */
export function serverTls(url: string, tls: PeerTls | undefined) {
  return databaseUsesTls(url) && (tls === undefined ? {} : renewingOptions(tls));
}

/** The TLS parameters that are removed from the URL, because `serverTls` applies them. */
export const TLS_PARAMETERS = { sslmode: "", sslrootcert: "" };
