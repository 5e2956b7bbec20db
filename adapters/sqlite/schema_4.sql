-- What version 4 has more than version 3: texts are numbered in the order in which they were written, and an
-- index says which runs of one to three characters are in which. See index.go.
CREATE TABLE numbered (
  n    INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id   TEXT NOT NULL,
  text BLOB NOT NULL
);
INSERT INTO numbered (kind, id, text) SELECT kind, id, text FROM texts ORDER BY kind, id;
DROP TABLE texts;
ALTER TABLE numbered RENAME TO texts;
CREATE UNIQUE INDEX texts_by_piece ON texts (kind, id);

-- A block is a list of texts by number, four bytes each, of which all have numbers up to last, and greater than
-- those of the block before.
CREATE TABLE blocks (
  last INTEGER PRIMARY KEY,
  docs BLOB NOT NULL
);

-- The runs of a block, in 256 buckets by their hash, each sorted.
CREATE TABLE runs (
  bucket INTEGER NOT NULL,
  block  INTEGER NOT NULL,
  list   BLOB NOT NULL,
  PRIMARY KEY (bucket, block)
) WITHOUT ROWID;

-- A draft's document is written when it changes, and not again when it ends: how it ended stands beside it.
CREATE TABLE draft_docs (
  id  TEXT NOT NULL PRIMARY KEY,
  doc BLOB NOT NULL
);
INSERT INTO draft_docs (id, doc) SELECT id, doc FROM drafts;
CREATE TABLE draft_states (
  id      TEXT NOT NULL PRIMARY KEY,
  rev     INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  created INTEGER NOT NULL,
  ended   BLOB -- JSON of rev, state, reason and updated, where they are not those of the document
) WITHOUT ROWID;
INSERT INTO draft_states (id, rev, pending, created) SELECT id, rev, pending, created FROM drafts;
DROP TABLE drafts;
CREATE INDEX draft_states_pending ON draft_states (pending, created);
