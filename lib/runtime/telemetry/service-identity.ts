/** `service.name` and `service.namespace` (contract 1). */
export interface ServiceIdentity {
  name: string;
  namespace: string;
}
