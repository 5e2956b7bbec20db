-- Version 1. One schema of the database is one studio: search_path says which. A piece's head says which
-- revision is current; a revision never changes once it is written.
--
-- What people write (titles, causes, texts) is bytea: it may hold what text of PostgreSQL may not, and it is
-- compared and ordered by its bytes, whatever the encoding and the collation of the database are. To read it:
-- convert_from(title, 'UTF8'). Names that we check are text.
CREATE TABLE heads (
  kind     text COLLATE "C" NOT NULL,
  id       text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  deleted  boolean NOT NULL,
  size     bigint NOT NULL,
  updated  bigint NOT NULL, -- microseconds since 1970, as all times here
  title    bytea NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE TABLE revisions (
  kind     text COLLATE "C" NOT NULL,
  id       text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  deleted  boolean NOT NULL,
  size     bigint NOT NULL,
  at       bigint NOT NULL,
  session  bytea NOT NULL,
  seq      bigint NOT NULL,
  cause    bytea NOT NULL,
  title    bytea NOT NULL,
  escrow   bytea NOT NULL, -- JSON list of format, name and blob digest
  profiles bytea,
  body     bytea,
  PRIMARY KEY (kind, id, revision)
);

-- Escrow bytes, once for all revisions that carry them.
CREATE TABLE blobs (
  digest text COLLATE "C" PRIMARY KEY,
  raw    bytea NOT NULL
);

-- What a search looks in: folded, of current pieces only.
CREATE TABLE texts (
  kind text COLLATE "C" NOT NULL,
  id   text COLLATE "C" NOT NULL,
  text bytea NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE TABLE drafts (
  id      text COLLATE "C" PRIMARY KEY,
  rev     bigint NOT NULL,
  pending boolean NOT NULL,
  created bigint NOT NULL,
  doc     bytea NOT NULL
);
CREATE INDEX drafts_pending ON drafts (created) WHERE pending;

CREATE TABLE ledger (
  n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  session text COLLATE "C" NOT NULL,
  run     text COLLATE "C" NOT NULL,
  parent  text COLLATE "C" NOT NULL,
  day     text COLLATE "C" NOT NULL,
  state   text COLLATE "C" NOT NULL,
  saved   boolean NOT NULL,
  reserve bigint NOT NULL,
  cost    bigint NOT NULL,
  doc     bytea NOT NULL
);
CREATE INDEX ledger_session ON ledger (session);
CREATE INDEX ledger_run ON ledger (run);
CREATE INDEX ledger_parent ON ledger (parent);
CREATE INDEX ledger_day ON ledger (day);

CREATE TABLE questions (
  id      text COLLATE "C" PRIMARY KEY,
  rev     bigint NOT NULL,
  pending boolean NOT NULL,
  expires bigint NOT NULL,
  asked   bigint NOT NULL,
  doc     bytea NOT NULL
);
CREATE INDEX questions_pending ON questions (asked) WHERE pending;
