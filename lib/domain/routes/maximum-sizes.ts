/** The maximum sizes in route configuration (RG-18 to RG-25). */

export const SERVICE_NAME_LENGTH_MAX = 128;
export const PATH_BYTES_MAX = 1024;
export const PATH_PARAMS_MAX = 32;
export const PARAM_NAME_LENGTH_MAX = 64;
export const LABELS_MAX = 32;
export const LABEL_LENGTH_MAX = 64;
export const POLICY_NAME_LENGTH_MAX = 64;
export const PLAN_NAME_LENGTH_MAX = 64;
export const PLANS_MAX = 32;
export const ROUTE_LIMITS_MAX = 3;
/** The maximum length of a service url: `http://`, a name of 253 characters with a final dot, and a port. */
export const SERVICE_URL_LENGTH_MAX = 267;
/** The maximum length of the path of a service's own description (RG-14). */
export const DOCUMENT_PATH_BYTES_MAX = 1024;
/** The maximum length of an upstream template; HTTP servers accept paths of this length (RG-21). */
export const UPSTREAM_BYTES_MAX = 4096;
/** The highest limit for which counters stay exact integers (RG-25). */
export const RATE_LIMIT_REQUESTS_MAX = Number.MAX_SAFE_INTEGER;
/** The longest window: 68 years, which every counter store accepts as a time to live (RG-25). */
export const RATE_LIMIT_WINDOW_SECONDS_MAX = 2_147_483_647;
/** The longest timeout of a service or a route: ten minutes (RG-167). */
export const TIMEOUT_MS_MAX = 600_000;
/** The highest maximum size of a request body: 1 TiB (RG-167). */
export const BODY_BYTES_MAX = 1_099_511_627_776;
/** The maximum number of tests of one service, and at the top of one document (RG-145). */
export const TESTS_MAX = 1_000;
export const TEST_NAME_LENGTH_MAX = 128;
/** The maximum number of labels of one test, equal to the maximum for a role. */
export const TEST_LABELS_MAX = 64;
/** The maximum size of one stored service as JSON. etcd refuses values over 1.5 MiB, overhead included. */
export const SERVICE_CONFIG_BYTES_MAX = 1_048_576;
/**
 * The maximum total size of the stored services of one document as JSON. A short document can expand to a
 * much larger size.
 */
export const DOCUMENT_BYTES_MAX = 16 * SERVICE_CONFIG_BYTES_MAX;
