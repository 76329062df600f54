/** The keys that registry and gateways share in the route store (RG-77, RG-78, GW-30). */

/**
 * The key prefix of service configurations. The service's name follows the prefix. The value is a
 * `StoredServiceConfig` as JSON.
 */
export const ROUTES_PREFIX = "edge/gateway/routes/";

/**
 * The key prefix of fences. The service's name follows the prefix. The fence belongs to the service's last
 * projection. Gateways do not read fences.
 */
export const FENCES_PREFIX = "edge/gateway/revisions/";

/**
 * The key prefix of running gateways. The gateway's id follows the prefix. The key has a lease, so it
 * disappears after the gateway dies. The value is a `GatewayInstance` as JSON.
 */
export const INSTANCES_PREFIX = "edge/gateway/instances/";

/**
 * The time to live of a gateway's key. Including etcd's own delays, the key disappears at most 15 s after the
 * last renewal.
 */
export const INSTANCE_TTL_SECONDS = 10;
