/** Every bound on route configuration (Gateway specification, Other constants). */

export const SERVICE_NAME_LENGTH_MAX = 128;
export const PATH_BYTES_MAX = 1024;
export const PATH_PARAMS_MAX = 32;
export const PARAM_NAME_LENGTH_MAX = 64;
export const LABELS_MAX = 32;
export const LABEL_LENGTH_MAX = 64;
export const POLICY_NAME_LENGTH_MAX = 64;
/** `http://`, a name of 253 characters and a dot, and a port. */
export const SERVICE_URL_LENGTH_MAX = 267;
/** Not in the specification: the path of a service's own OpenAPI document. */
export const DOCUMENT_PATH_BYTES_MAX = 1024;
/** Not in the specification: keeps an upstream template within what HTTP servers read. */
export const UPSTREAM_BYTES_MAX = 4096;
/** Not in the specification: counters stay exact integers. */
export const RATE_LIMIT_REQUESTS_MAX = Number.MAX_SAFE_INTEGER;
/** Not in the specification: 68 years, which every counter store can express as a key's time to live. */
export const RATE_LIMIT_WINDOW_SECONDS_MAX = 2_147_483_647;
/** JSON of one stored service: etcd refuses values over 1.5 MiB, its own overhead included. */
export const SERVICE_CONFIG_BYTES_MAX = 1_048_576;
/** JSON of all the stored services of one document: a short text can expand to far more than its length. */
export const DOCUMENT_BYTES_MAX = 16 * SERVICE_CONFIG_BYTES_MAX;
