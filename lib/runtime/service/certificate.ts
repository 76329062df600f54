import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ConfigProblem } from "../config/index.ts";

/** Where a certificate with its chain and its key are kept, both in PEM form. */
export interface CertificateFiles {
  TLS_CERT_FILE: string;
  TLS_KEY_FILE: string;
}

export interface Certificate {
  cert: string;
  key: string;
  expires_at: Date;
}

/** Reads a certificate and its key, or tells what is wrong with them; never with anything that the key's file holds. */
export function readCertificate(files: CertificateFiles): Certificate | ConfigProblem {
  const cert = readText(files.TLS_CERT_FILE);
  if (cert === null) return { variable: "TLS_CERT_FILE", message: "must be a file that this user may read." };
  const key = readText(files.TLS_KEY_FILE);
  if (key === null) return { variable: "TLS_KEY_FILE", message: "must be a file that this user may read." };
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === null) {
    return {
      variable: "TLS_CERT_FILE",
      message: "must hold a certificate in PEM form, with its chain after it.",
    };
  }
  const private_key = attempt(() => createPrivateKey(key));
  if (private_key === null) {
    return {
      variable: "TLS_KEY_FILE",
      message: "must hold a private key in PEM form, without a passphrase.",
    };
  }
  if (!certificate.checkPrivateKey(private_key)) {
    return { variable: "TLS_KEY_FILE", message: "holds the key of another certificate than TLS_CERT_FILE." };
  }
  return { cert, key, expires_at: new Date(certificate.validTo) };
}

/** The pair that a configuration names; null where it names none. */
export function certificateFiles(config: Partial<CertificateFiles>): CertificateFiles | null {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = config;
  return TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined ? null : { TLS_CERT_FILE, TLS_KEY_FILE };
}

/** A check for `loadConfig`: both files or none, and a pair that belongs together. */
export function checkCertificate(config: Partial<CertificateFiles>): ConfigProblem[] {
  const files = certificateFiles(config);
  if (files !== null) {
    const read = readCertificate(files);
    return "message" in read ? [read] : [];
  }
  if (config.TLS_CERT_FILE !== undefined)
    return [{ variable: "TLS_KEY_FILE", message: "is required with TLS_CERT_FILE." }];
  if (config.TLS_KEY_FILE !== undefined)
    return [{ variable: "TLS_CERT_FILE", message: "is required with TLS_KEY_FILE." }];
  return [];
}

function readText(path: string): string | null {
  return attempt(() => readFileSync(path, "utf8"));
}

function attempt<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
