-- Cosignatures of witnesses over roots of the tree of checkpoints (apps/audit/README.md, Witnesses). Rows from before the
-- newest root that a quorum cosigned are deleted.
create table audit.cosignatures (
  size bigint not null,
  -- the root as the log signed it, a note
  note text not null,
  -- the verifier key of the witness
  witness text not null,
  -- the signature as a line of a note
  line text not null,
  cosigned_at timestamptz not null,
  primary key (size, witness)
);
