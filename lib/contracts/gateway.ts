/** The default of the gateway's MAX_BODY_BYTES, which the edge description shows: the registry knows no other. */
export const MAX_BODY_BYTES_DEFAULT = 10 * 1024 * 1024;
