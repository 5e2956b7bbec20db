-- Version 1: schema_2.sql to schema_5.sql follow. A piece's head says which revision is current; a revision
-- never changes once it is written. Small columns come first: a list reads no body.
CREATE TABLE heads (
  kind     TEXT NOT NULL,
  id       TEXT NOT NULL,
  revision INTEGER NOT NULL,
  deleted  INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  updated  INTEGER NOT NULL, -- microseconds since 1970, as all times here
  title    TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE TABLE revisions (
  kind     TEXT NOT NULL,
  id       TEXT NOT NULL,
  revision INTEGER NOT NULL,
  deleted  INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  session  TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  cause    TEXT NOT NULL,
  title    TEXT NOT NULL,
  escrow   TEXT NOT NULL, -- JSON list of format, name and blob digest
  profiles BLOB,
  body     BLOB
);
CREATE UNIQUE INDEX revisions_by_piece ON revisions (kind, id, revision);

-- Escrow bytes, once for all revisions that carry them.
CREATE TABLE blobs (
  digest TEXT NOT NULL PRIMARY KEY,
  raw    BLOB NOT NULL
);

-- What a search looks in: folded, of current pieces only.
CREATE TABLE texts (
  kind TEXT NOT NULL,
  id   TEXT NOT NULL,
  text BLOB NOT NULL
);
CREATE UNIQUE INDEX texts_by_piece ON texts (kind, id);

CREATE TABLE drafts (
  id      TEXT NOT NULL PRIMARY KEY,
  rev     INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  created INTEGER NOT NULL,
  doc     BLOB NOT NULL
);
CREATE INDEX drafts_pending ON drafts (pending, created);

CREATE TABLE ledger (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  run     TEXT NOT NULL,
  parent  TEXT NOT NULL,
  day     TEXT NOT NULL,
  state   TEXT NOT NULL,
  saved   INTEGER NOT NULL,
  reserve INTEGER NOT NULL,
  cost    INTEGER NOT NULL,
  doc     BLOB NOT NULL
);
CREATE INDEX ledger_session ON ledger (session);
CREATE INDEX ledger_run ON ledger (run);
CREATE INDEX ledger_parent ON ledger (parent);
CREATE INDEX ledger_day ON ledger (day);
