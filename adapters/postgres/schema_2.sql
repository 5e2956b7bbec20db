-- What version 2 has more than version 1: what is kept beside the pieces.
CREATE TABLE entries (
  drawer text COLLATE "C" NOT NULL,
  id     text COLLATE "C" NOT NULL,
  rev    bigint NOT NULL,
  at     bigint NOT NULL,
  doc    bytea NOT NULL,
  PRIMARY KEY (drawer, id)
);
