-- One schema for SQLite and PostgreSQL; what they spell differently is a placeholder (Schema.java).

CREATE TABLE hardware (
  id          ${key},
  fingerprint TEXT NOT NULL UNIQUE, -- SHA-256 of the description
  processor   TEXT NOT NULL,
  description TEXT NOT NULL         -- the "hardware" part of environment.json
);

CREATE TABLE runs (
  id           ${key},
  name         TEXT NOT NULL,
  identity     TEXT NOT NULL,     -- what stays the same when a run is resumed
  content      TEXT NOT NULL,     -- SHA-256 of what was added
  extent       BIGINT NOT NULL,   -- grows when a run is resumed
  source       TEXT NOT NULL,     -- steelyard, llama-bench, …
  started      BIGINT NOT NULL,   -- milliseconds since 1970, UTC
  command      TEXT NOT NULL,
  model        TEXT NOT NULL,
  model_sha256 TEXT NOT NULL,
  weights      TEXT NOT NULL,     -- real, random, unknown
  settings     TEXT NOT NULL,     -- what every engine was told
  git_commit   TEXT NOT NULL,
  dirty        SMALLINT,          -- null where not known
  hardware     BIGINT REFERENCES hardware (id), -- null where not known
  environment  TEXT NOT NULL,     -- environment.json without its "hardware" part
  cells        INTEGER NOT NULL,
  trials       INTEGER NOT NULL,
  UNIQUE (name, identity)
);
CREATE INDEX runs_by_time ON runs (started);

CREATE TABLE cells (
  id        ${key},
  run       BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  place     INTEGER NOT NULL,     -- order in the run
  label     TEXT NOT NULL,
  engine    TEXT NOT NULL,
  model     TEXT NOT NULL,
  precision TEXT NOT NULL,
  metric    TEXT NOT NULL,
  unit      TEXT NOT NULL,
  better    TEXT NOT NULL,        -- higher, lower, unknown
  mean      ${real},
  median    ${real},
  sd        ${real},
  smallest  ${real},
  largest   ${real},
  low       ${real},              -- 95 % interval of the mean
  high      ${real},
  forks     INTEGER NOT NULL,
  trials    INTEGER NOT NULL,
  state     TEXT NOT NULL,
  disturbed INTEGER NOT NULL,
  roofline  ${real}
);
CREATE INDEX cells_by_run ON cells (run, place);
CREATE INDEX cells_by_metric ON cells (metric, label);

-- One row a timed call. Its key is all but the value, so there is no other index.
CREATE TABLE trials (
  cell    BIGINT NOT NULL REFERENCES cells (id) ON DELETE CASCADE,
  block   INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  fork    INTEGER NOT NULL,
  role    SMALLINT NOT NULL,      -- 0 first token of a cold start, 1 warm-up, 2 trial
  number  INTEGER NOT NULL,
  counts  SMALLINT NOT NULL,      -- 0 where its block was measured again or its process failed
  value   ${real} NOT NULL,       -- in the cell's unit
  PRIMARY KEY (cell, block, attempt, fork, role, number)
)${clustered};

CREATE TABLE comparisons (
  run       BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  place     INTEGER NOT NULL,
  metric    TEXT NOT NULL,
  subject   TEXT NOT NULL,
  baseline  TEXT NOT NULL,
  model     TEXT NOT NULL,
  precision TEXT NOT NULL,
  ratio     ${real},
  low       ${real},
  high      ${real},
  verdict   TEXT NOT NULL,
  blocks    INTEGER NOT NULL,
  note      TEXT NOT NULL,
  PRIMARY KEY (run, place)
);
