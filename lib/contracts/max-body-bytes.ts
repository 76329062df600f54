/**
 * The default of the gateway's MAX_BODY_BYTES. The edge description shows it, because the registry does not
 * know the configured value.
 */
export const MAX_BODY_BYTES_DEFAULT = 10 * 1024 * 1024;
