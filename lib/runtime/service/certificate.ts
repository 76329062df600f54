import { type ConfigProblem, type KeyPair, loneFileProblems, readKeyPair } from "../config/index.ts";

/** The paths of a certificate with its chain and of its private key, both in PEM form. */
export interface CertificateFiles {
  TLS_CERT_FILE: string;
  TLS_KEY_FILE: string;
}

export type Certificate = KeyPair;

/** Reads a certificate and its private key, or returns the problem. */
export function readCertificate(files: CertificateFiles): Certificate | ConfigProblem {
  return readKeyPair(
    { variable: "TLS_CERT_FILE", path: files.TLS_CERT_FILE },
    { variable: "TLS_KEY_FILE", path: files.TLS_KEY_FILE },
  );
}

/** Returns the certificate files of a configuration, or null if one of them is not set. */
export function certificateFiles(config: Partial<CertificateFiles>): CertificateFiles | null {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = config;
  return TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined ? null : { TLS_CERT_FILE, TLS_KEY_FILE };
}

/**
 * Checks for `loadConfig` that both files are set or neither is, and that the key belongs to the certificate.
 */
export function checkCertificate(config: Partial<CertificateFiles>): ConfigProblem[] {
  const files = certificateFiles(config);
  if (files === null) {
    const names = { cert: "TLS_CERT_FILE", key: "TLS_KEY_FILE" };
    return loneFileProblems(names, { cert: config.TLS_CERT_FILE, key: config.TLS_KEY_FILE });
  }
  const read = readCertificate(files);
  return "message" in read ? [read] : [];
}
