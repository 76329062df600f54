import { databaseUsesTls, type PeerTls, renewingOptions } from "../../config/index.ts";

/**
 * Returns the driver's `ssl` for the server of `url`. These options verify certificates, which only one of
 * the driver's own modes does.
 */
export function serverTls(url: string, tls: PeerTls | undefined) {
  return databaseUsesTls(url) && (tls === undefined ? {} : renewingOptions(tls));
}

/** The TLS parameters to remove from the URL, because `serverTls` has applied them. */
export const TLS_PARAMETERS = { sslmode: "", sslrootcert: "" };
