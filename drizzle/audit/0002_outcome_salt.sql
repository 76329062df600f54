-- A writer gives the salt of an outcome, as it gives that of an intent; who gives none gets one here. What the proof
-- needs besides is set once the change is found to be allowed.
create or replace function audit.refuse_all_but_outcome() returns trigger language plpgsql as $$
declare
  kept record;
begin
  if old.outcome = 'pending' and new.outcome <> 'pending' then
    kept := new;
    kept.outcome := old.outcome;
    kept.status := old.status;
    kept.details := old.details;
    kept.created_id := old.created_id;
    kept.outcome_salt := old.outcome_salt;
    if old.user_id is not null and old.organization_id is null then
      kept.organization_id := old.organization_id;
      kept.actor_member_id := old.actor_member_id;
    end if;
    if kept *= old then
      new.outcome_xid := pg_current_xact_id();
      if new.outcome_salt is null then
        new.outcome_salt := audit.random_salt();
      end if;
      if new.organization_id is distinct from old.organization_id then
        new.named_by_outcome := true;
        new.intent_member_id := old.actor_member_id;
      end if;
      return new;
    end if;
  end if;
  raise exception 'UPDATE on % is refused: an audit event changes once, from pending to its outcome', tg_table_name
    using errcode = 'restrict_violation';
end
$$;
