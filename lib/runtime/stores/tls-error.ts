/** The server of a failed TLS handshake, and the prefix of its variables, such as `DATABASE`. */
type Peer = readonly [server: string, prefix: string];

/**
 * Returns the sentence about a store if its TLS handshake failed. `error` is an error code or text, because gRPC passes
 * on only the text.
 */
export function tlsError(error: string, ...peer: Peer): string | undefined {
  return ERRORS.find(([words]) => words.test(error))?.[1](...peer);
}

const ERRORS: [words: RegExp, sentence: (...peer: Peer) => string][] = [
  [
    /CERT_HAS_EXPIRED|certificate has expired/,
    (server, prefix) =>
      `The TLS certificate of ${server} (${prefix}_URL) has expired: renew the certificate.`,
  ],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid/,
    (server, prefix) =>
      `The TLS certificate of ${server} (${prefix}_URL) is not valid yet: check the clocks of both machines.`,
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    (server, prefix) =>
      `The TLS certificate of ${server} does not name the host in ${prefix}_URL: correct the host, or issue a certificate for that host.`,
  ],
  [
    /SELF_SIGNED_CERT|self[- ]signed certificate|UNABLE_TO_(VERIFY|GET)|unable to (verify|get)|INVALID_CA|CERT_SIGNATURE_FAILURE|certificate signature failure/,
    (server, prefix) =>
      `The TLS certificate of ${server} (${prefix}_URL) is not signed by a trusted CA: set ${prefix}_CA_FILE to the file of its CA.`,
  ],
  [
    /ALERT_(CERTIFICATE|BAD_CERT|UNKNOWN_CA|HANDSHAKE_FAILURE|UNSUPPORTED_CERT|ACCESS_DENIED)|tlsv1 alert|CERTIFICATE_REQUIRED|ALERT_DECRYPT_ERROR/,
    (server, prefix) =>
      `The client's TLS certificate was refused by ${server} (${prefix}_URL): set ${prefix}_CERT_FILE and ${prefix}_KEY_FILE to a certificate that the server trusts.`,
  ],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|INVALID_COMMAND|UNEXPECTED_MESSAGE|UNKNOWN_PROTOCOL/,
    (server, prefix) =>
      `${prefix}_URL requires TLS, but ${server} does not speak TLS: correct the URL, or turn TLS on at the server.`,
  ],
];
