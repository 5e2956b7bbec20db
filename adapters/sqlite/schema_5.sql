-- What version 5 has more than version 4: the pieces whose current revision the index does not know yet. The
-- text that it has of such a piece, if any, is of an older revision. A piece has a text when it is in a block.
CREATE TABLE behind (
  kind     TEXT NOT NULL,
  id       TEXT NOT NULL,
  revision INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
INSERT INTO behind SELECT h.kind, h.id, h.revision, h.size FROM texts t JOIN heads h ON h.kind = t.kind AND h.id = t.id
  WHERE t.n > coalesce((SELECT max(last) FROM blocks), 0);
DELETE FROM texts WHERE n > coalesce((SELECT max(last) FROM blocks), 0);

-- The bodies of a draft stand beside its document, as they are; NULL where they are within it.
ALTER TABLE draft_docs ADD COLUMN proposed BLOB;
ALTER TABLE draft_docs ADD COLUMN baseline BLOB;
