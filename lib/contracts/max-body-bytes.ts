/** The default of the gateway's MAX_BODY_BYTES. The edge description shows it, not the gateway's own value. */
export const MAX_BODY_BYTES_DEFAULT = 10 * 1024 * 1024;
