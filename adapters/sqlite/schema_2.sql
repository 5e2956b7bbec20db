-- What version 2 has more than version 1: the questions of the gate.
CREATE TABLE questions (
  id      TEXT NOT NULL PRIMARY KEY,
  rev     INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  asked   INTEGER NOT NULL,
  doc     BLOB NOT NULL
);
CREATE INDEX questions_pending ON questions (pending, asked);
