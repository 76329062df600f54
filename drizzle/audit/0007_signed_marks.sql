-- How far all is sealed is signed by the key of the log, where there is one: whoever moves it without the key is found
-- out, and the whole log is looked through again for what has no place.
alter table audit.sealer
  add column marks text,
  -- once they were signed they always are; a role that may update the row cannot set this back
  add column marks_signed boolean not null default false;
--> statement-breakpoint
create function audit.note_signed_marks() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.marks is not null then
    new.marks_signed := true;
  end if;
  return new;
end
$$;
--> statement-breakpoint
create trigger note_signed_marks before update on audit.sealer
  for each row execute function audit.note_signed_marks();
