-- What version 3 has more than version 2: what is kept beside the pieces.
CREATE TABLE entries (
  drawer TEXT NOT NULL,
  id     TEXT NOT NULL,
  rev    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  doc    BLOB NOT NULL,
  PRIMARY KEY (drawer, id)
) WITHOUT ROWID;
