import { ServiceBed, type ServiceProcess } from "../measure/service-bed.ts";

/** The database and the processes of a run of the audit service. */
export class AuditBed extends ServiceBed {
  service(database_url: string): Promise<ServiceProcess> {
    return this.process("apps/audit/main.ts", { DATABASE_URL: database_url });
  }
}
