import { databaseUsesTls, type PeerTls, renewingOptions } from "../../config/index.ts";

/** The driver's `ssl` for the server of `url`: of its own modes only one checks certificates, as these options do. */
export function serverTls(url: string, tls: PeerTls | undefined) {
  return databaseUsesTls(url) && (tls === undefined ? {} : renewingOptions(tls));
}

/** Of the URL, which say no more to the driver than that there is TLS. */
export const TLS_PARAMETERS = { sslmode: "", sslrootcert: "" };
