-- The timeline of a case. Times are nanoseconds since 1970 UTC;
-- NULL in t0 or t1 means that the end is unknown. A source and everything it
-- proves is visible through the views once it is complete.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One row for each piece of evidence and claim. The same bytes from two hosts
-- are two sources.
CREATE TABLE source (
  id       INTEGER PRIMARY KEY,
  sha256   TEXT NOT NULL,    -- '' for a file that could not be opened
  claim    TEXT NOT NULL,    -- what --subject said; else the path when the content names nobody; else ''
  path     TEXT NOT NULL,    -- as given on the command line
  format   TEXT NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('read','partial','unread')),
  why      TEXT NOT NULL,    -- of partial and unread
  bytes    INTEGER NOT NULL,
  events   INTEGER NOT NULL,
  skipped  INTEGER NOT NULL,
  t0 INTEGER, t1 INTEGER,    -- first and last time seen: they prove no coverage
  zone     TEXT NOT NULL,    -- --zone
  covers   TEXT NOT NULL,    -- --covers
  skew     TEXT NOT NULL,    -- --skew
  parser   TEXT NOT NULL,    -- version of the program that read it
  command  TEXT NOT NULL,    -- the command line that read it
  read_at  INTEGER NOT NULL,
  complete INTEGER NOT NULL  -- 0 while it is being read
) STRICT;
CREATE UNIQUE INDEX source_identity ON source (sha256, claim) WHERE complete = 1 AND sha256 <> '';
CREATE INDEX source_size ON source (bytes) WHERE complete = 1;
CREATE INDEX source_path ON source (path) WHERE complete = 1;
CREATE INDEX source_claim ON source (claim) WHERE complete = 1 AND state <> 'read';

CREATE TABLE subject (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name)) STRICT;
CREATE TABLE path    (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

-- Artifacts taken apart once: name and version are as timeline.Split gives them.
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL
) STRICT;
CREATE INDEX artifact_name ON artifact (type, name);

CREATE TABLE item (
  id INTEGER PRIMARY KEY, artifact INTEGER NOT NULL REFERENCES artifact, ref TEXT NOT NULL,
  digests TEXT NOT NULL,     -- "value role" pairs, one a line: part of the identity
  UNIQUE (artifact, ref, digests)
) STRICT;
CREATE TABLE item_digest (value TEXT NOT NULL, item INTEGER NOT NULL REFERENCES item, role TEXT NOT NULL,
  PRIMARY KEY (value, item, role)) STRICT, WITHOUT ROWID;

-- A set of items, interned: the line that names sixty packages and the next
-- thousand runs that name the same sixty share one row.
CREATE TABLE bundle (id INTEGER PRIMARY KEY, items TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE bundle_item (bundle INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (bundle, item)) STRICT, WITHOUT ROWID;
CREATE INDEX bundle_of_item ON bundle_item (item, bundle);

CREATE TABLE event (
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source,
  action INTEGER NOT NULL, subject INTEGER NOT NULL REFERENCES subject, bundle INTEGER NOT NULL REFERENCES bundle,
  t0 INTEGER, t1 INTEGER, clock TEXT NOT NULL, written TEXT NOT NULL,
  op INTEGER NOT NULL, path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL,
  excerpt TEXT NOT NULL      -- redacted, so hardly two are alike once they hold an address or a time
) STRICT;
-- A query uses one of these only if it names the same actions: opaque, hold.
CREATE INDEX event_opaque ON event (subject, t0, t1, action, bundle) WHERE action = 15;
CREATE INDEX event_hold ON event (subject) WHERE action = 16;
-- Build, push and tag; a list in place of the range costs five times as much here.
CREATE INDEX event_made ON event (subject) WHERE action BETWEEN 9 AND 11;
-- Its other indexes stand in indexes.sql.

CREATE TABLE op (
  source INTEGER NOT NULL REFERENCES source, number INTEGER NOT NULL, parent INTEGER NOT NULL,
  tool TEXT NOT NULL, command TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (source, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE link (
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source,
  relation TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL,
  t0 INTEGER, t1 INTEGER, clock TEXT NOT NULL, written TEXT NOT NULL,
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL, excerpt TEXT NOT NULL
) STRICT;
CREATE INDEX link_source ON link (source);
CREATE INDEX link_a ON link (a, relation);
CREATE INDEX link_b ON link (b, relation);
-- All but what images hold, of which there is most: a query says the same.
CREATE INDEX link_placed ON link (relation) WHERE relation <> 'holds';

CREATE TABLE coverage (
  source INTEGER NOT NULL REFERENCES source, subject INTEGER NOT NULL REFERENCES subject,
  topic TEXT NOT NULL, t0 INTEGER, t1 INTEGER, whole INTEGER NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX coverage_source ON coverage (source);

CREATE TABLE expected (
  source INTEGER NOT NULL REFERENCES source, subject INTEGER NOT NULL REFERENCES subject,
  channel TEXT NOT NULL, t0 INTEGER, t1 INTEGER, reason TEXT NOT NULL, detail TEXT NOT NULL,
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL
) STRICT;
CREATE INDEX expected_source ON expected (source);

CREATE TABLE skip (
  source INTEGER NOT NULL REFERENCES source, path INTEGER NOT NULL REFERENCES path,
  line INTEGER NOT NULL, off INTEGER NOT NULL, reason TEXT NOT NULL, excerpt TEXT NOT NULL
) STRICT;
CREATE INDEX skip_source ON skip (source);

-- The subjects that the events of a source are of.
CREATE TABLE named (source INTEGER NOT NULL REFERENCES source, subject INTEGER NOT NULL REFERENCES subject,
  PRIMARY KEY (source, subject)) STRICT, WITHOUT ROWID;

-- What inference engines are set to, and where traces are sent, see SettingName.
CREATE TABLE setting (
  source INTEGER NOT NULL REFERENCES source, subject INTEGER NOT NULL REFERENCES subject,
  name TEXT NOT NULL, value TEXT NOT NULL, t0 INTEGER, t1 INTEGER, clock TEXT NOT NULL, written TEXT NOT NULL,
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL, excerpt TEXT NOT NULL
) STRICT;
CREATE INDEX setting_source ON setting (source);

-- Requests to inference engines, without their texts. Tenant and model are in
-- path; counts are tokens, -1 when not known; start, first and finish are
-- nanoseconds, 0 when not known.
CREATE TABLE request (
  source INTEGER NOT NULL REFERENCES source, node INTEGER NOT NULL REFERENCES subject,
  tenant INTEGER NOT NULL REFERENCES path, model INTEGER NOT NULL REFERENCES path, name TEXT NOT NULL,
  prompt INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL,
  start INTEGER NOT NULL, first INTEGER NOT NULL, finish INTEGER NOT NULL,
  t0 INTEGER, t1 INTEGER, clock TEXT NOT NULL, flags INTEGER NOT NULL,
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL
) STRICT;
CREATE INDEX request_source ON request (source);

-- Requests that pulltrail sent itself as test tenants, and what counts of their
-- replies, see timeline.Canary; columns as in request. Those that were answered
-- are in request too.
CREATE TABLE canary (
  source INTEGER NOT NULL REFERENCES source, node INTEGER NOT NULL REFERENCES subject,
  tenant INTEGER NOT NULL REFERENCES path, model INTEGER NOT NULL REFERENCES path, name TEXT NOT NULL,
  run TEXT NOT NULL, target TEXT NOT NULL, probe TEXT NOT NULL CHECK (probe IN ('size','marker','over-length')),
  prompt INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL,
  sent INTEGER NOT NULL, most INTEGER NOT NULL, rate INTEGER NOT NULL, -- tokens reckoned; limit and tokens a second that were stated
  start INTEGER NOT NULL, first INTEGER NOT NULL, finish INTEGER NOT NULL,
  t0 INTEGER, t1 INTEGER, clock TEXT NOT NULL, flags INTEGER NOT NULL,
  status INTEGER NOT NULL,   -- of HTTP, 0 without an answer
  outcome TEXT NOT NULL, why TEXT NOT NULL,
  own TEXT NOT NULL,         -- none, first, last, both: own codes in the reply
  stale INTEGER NOT NULL,    -- 1: a code of another request of the same tenant is in it
  others TEXT NOT NULL,      -- tenants whose markers are in it, blanks between
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL
) STRICT;
CREATE INDEX canary_source ON canary (source);

-- Subjects that a person named with --subject: they get a verdict even when
-- nothing is found.
CREATE TABLE claimed (source INTEGER NOT NULL REFERENCES source, subject INTEGER NOT NULL REFERENCES subject,
  PRIMARY KEY (source, subject)) STRICT, WITHOUT ROWID;

-- The inventory: one row for each address a host had.
CREATE TABLE inventory (
  id INTEGER PRIMARY KEY, address TEXT NOT NULL, host TEXT NOT NULL, t0 INTEGER, t1 INTEGER,
  service TEXT NOT NULL, owner TEXT NOT NULL, customer TEXT NOT NULL, egress TEXT NOT NULL,
  channels TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL
) STRICT;
CREATE TABLE mirror (prefix TEXT PRIMARY KEY, upstream TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL) STRICT;

-- What lists say of secrets: names and dates, never a value. One row for each
-- record of a secret. Times are NULL and texts '' where the record is silent.
CREATE TABLE credential (
  source INTEGER NOT NULL REFERENCES source,
  subject INTEGER NOT NULL REFERENCES subject, -- whose evidence it is
  store TEXT NOT NULL,       -- where it is kept: github:acme/api, aws:123456789012, litellm:proxy; '' in the subject itself
  name TEXT NOT NULL, part TEXT NOT NULL, -- part: one of several that go by the name
  class TEXT NOT NULL,       -- as the record proves it
  owner TEXT NOT NULL, provider TEXT NOT NULL, alias TEXT NOT NULL, team TEXT NOT NULL, customer TEXT NOT NULL,
  created INTEGER, updated INTEGER, used INTEGER, expires INTEGER,
  listed INTEGER,            -- when the list was made, as it says itself
  state TEXT NOT NULL CHECK (state IN ('','active','inactive')),
  path INTEGER NOT NULL REFERENCES path, line INTEGER NOT NULL, off INTEGER NOT NULL, excerpt TEXT NOT NULL
) STRICT;
CREATE INDEX credential_source ON credential (source);

-- What people said of credentials, subjects and findings: rows are only added.
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  act TEXT NOT NULL CHECK (act IN ('rotated','waived','stopped','same','disposed','stated')),
  about TEXT NOT NULL,       -- name of a credential, or kind:id of a subject
  at INTEGER, until INTEGER, -- when it was done; when a waiver ends
  who TEXT NOT NULL, value TEXT NOT NULL, reason TEXT NOT NULL,
  incident TEXT NOT NULL,    -- '' for every one
  said INTEGER NOT NULL,     -- when it was said
  command TEXT NOT NULL, program TEXT NOT NULL
) STRICT;
CREATE TRIGGER decision_stays BEFORE UPDATE ON decision BEGIN SELECT RAISE(ABORT, 'decisions are only added'); END;
CREATE TRIGGER decision_is_kept BEFORE DELETE ON decision BEGIN SELECT RAISE(ABORT, 'decisions are only added'); END;

-- What the matched revisions of incidents say, one fact a line.
CREATE TABLE revision (sha256 TEXT PRIMARY KEY, incident TEXT NOT NULL, says TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- What was answered: one row each time an incident was matched and the answer
-- was another one than the time before. Nothing of it is ever changed.
CREATE TABLE answer (
  id INTEGER PRIMARY KEY, incident TEXT NOT NULL,
  revision TEXT NOT NULL REFERENCES revision,
  at       INTEGER NOT NULL, -- when it was matched
  program  TEXT NOT NULL,
  complete INTEGER NOT NULL, sources INTEGER NOT NULL, subjects INTEGER NOT NULL,
  sum      TEXT NOT NULL     -- of all that was answered: the same again is not stored
) STRICT;
CREATE INDEX answer_incident ON answer (incident);

-- The verdicts of an answer that differ from those of the answer before it, of
-- the same incident. A verdict '' says that the subject has none any more.
CREATE TABLE verdict (
  answer INTEGER NOT NULL REFERENCES answer, subject TEXT NOT NULL,
  verdict TEXT NOT NULL, rule TEXT NOT NULL, because TEXT NOT NULL, artifact TEXT NOT NULL,
  channels TEXT NOT NULL,    -- channel=verdict, blanks between
  origins  TEXT NOT NULL     -- lines it stands on: first 12 digits of the source's SHA-256, path:line
) STRICT;
CREATE INDEX verdict_answer ON verdict (answer);

-- What collectors asked of services: one row for each collection, and the
-- ledger, one row for each request. Nothing is asked twice whose answer is here.
CREATE TABLE collection (
  id INTEGER PRIMARY KEY,
  collector TEXT NOT NULL,   -- github, gitlab, …
  target TEXT NOT NULL,      -- what was collected, and of which service
  t0 INTEGER, t1 INTEGER,    -- the window
  state TEXT NOT NULL CHECK (state IN ('open','done','partial')), -- open: going on, or interrupted
  begun INTEGER NOT NULL, ended INTEGER,
  command TEXT NOT NULL, program TEXT NOT NULL
) STRICT;
CREATE TABLE inquiry (
  url TEXT PRIMARY KEY,      -- without credentials
  collection INTEGER NOT NULL REFERENCES collection, -- that asked last
  kind TEXT NOT NULL,        -- runs, jobs, logs, …
  version TEXT NOT NULL,     -- of what was asked for: another one is asked for again
  outcome TEXT NOT NULL CHECK (outcome IN ('obtained','absent','denied','expired','failed')),
  status INTEGER NOT NULL,   -- of HTTP, 0 where there was no answer
  detail TEXT NOT NULL,
  sha256 TEXT NOT NULL,      -- of the answer that is kept, '' when there is none
  bytes INTEGER NOT NULL,
  head TEXT NOT NULL,        -- the headers of the answer that lead to more
  name TEXT NOT NULL,        -- what the answer would be called as a file
  claim TEXT NOT NULL,       -- whose evidence it is, where it does not say
  reading TEXT NOT NULL CHECK (reading IN ('none','page','whole','entire')), -- is it for a format, one of several pages, all that its subject printed
  t0 INTEGER, t1 INTEGER,    -- when what it is of lived
  gap INTEGER NOT NULL,      -- 1: it was refused, and nothing else stands for it
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Views for people: pulltrail sql, Datasette, the sqlite3 shell.

-- Events, one row for each thing an event names; times as RFC 3339 UTC.
CREATE VIEW timeline AS
SELECT e.id AS event,
       strftime('%Y-%m-%dT%H:%M:%SZ', e.t0 / 1000000000, 'unixepoch') AS "from",
       strftime('%Y-%m-%dT%H:%M:%SZ', e.t1 / 1000000000, 'unixepoch') AS "to",
       e.clock, e.written,
       CASE e.action WHEN 1 THEN 'require' WHEN 2 THEN 'resolve' WHEN 3 THEN 'check' WHEN 4 THEN 'cached'
         WHEN 5 THEN 'download' WHEN 6 THEN 'pull' WHEN 7 THEN 'present' WHEN 8 THEN 'install' WHEN 9 THEN 'build'
         WHEN 10 THEN 'push' WHEN 11 THEN 'tag' WHEN 12 THEN 'run' WHEN 13 THEN 'remove' WHEN 14 THEN 'contact'
         WHEN 15 THEN 'opaque' WHEN 16 THEN 'hold' END AS action,
       u.kind AS subject_kind, u.name AS subject,
       a.text AS artifact, i.ref, i.digests, p.text AS path, e.line, e.excerpt AS text, s.sha256 AS source, e.op
FROM event e
JOIN source s ON s.id = e.source AND s.complete = 1
JOIN subject u ON u.id = e.subject
JOIN bundle_item b ON b.bundle = e.bundle
JOIN item i ON i.id = b.item
JOIN artifact a ON a.id = i.artifact
JOIN path p ON p.id = e.path;

-- What inference engines are set to, and where traces are sent, one row each.
CREATE VIEW settings AS
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', x.t0 / 1000000000, 'unixepoch') AS "from",
       u.kind || ':' || u.name AS subject, x.name AS setting, x.value, p.text AS path, x.line, x.excerpt AS text, s.sha256 AS source
FROM setting x
JOIN source s ON s.id = x.source AND s.complete = 1
JOIN subject u ON u.id = x.subject
JOIN path p ON p.id = x.path;

-- Requests to inference engines, one row each.
CREATE VIEW requests AS
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', r.t0 / 1000000000, 'unixepoch') AS "from",
       strftime('%Y-%m-%dT%H:%M:%SZ', r.t1 / 1000000000, 'unixepoch') AS "to",
       u.kind || ':' || u.name AS node, t.text AS tenant, m.text AS model, r.name AS request,
       r.prompt AS prompt_tokens, r.cached AS cached_tokens, r.output AS output_tokens,
       CASE WHEN r.first > 0 THEN (r.first - r.start) / 1e9 END AS seconds_to_first_token,
       r.flags & 2 <> 0 AS failed, p.text AS path, r.line, s.sha256 AS source
FROM request r
JOIN source s ON s.id = r.source AND s.complete = 1
JOIN subject u ON u.id = r.node
JOIN path t ON t.id = r.tenant JOIN path m ON m.id = r.model JOIN path p ON p.id = r.path;

-- What the canary sent, and what came back, one request each.
CREATE VIEW canaries AS
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', c.t0 / 1000000000, 'unixepoch') AS "from",
       c.run, c.target, u.kind || ':' || u.name AS node, t.text AS tenant, m.text AS model, c.probe, c.status, c.outcome, c.why,
       c.sent AS sent_tokens, c.prompt AS counted_tokens, c.cached AS cached_at_most, c.output AS output_tokens,
       CASE WHEN c.first > 0 THEN (c.first - c.start) / 1e9 END AS seconds_to_first_token,
       c.own AS own_codes, c.stale AS other_request, c.others AS other_tenants, p.text AS path, c.line, s.sha256 AS source
FROM canary c
JOIN source s ON s.id = c.source AND s.complete = 1
JOIN subject u ON u.id = c.node
JOIN path t ON t.id = c.tenant JOIN path m ON m.id = c.model JOIN path p ON p.id = c.path;

-- Every subject with the number of events it has.
CREATE VIEW subjects AS
SELECT u.kind, u.name, (SELECT count(*) FROM event e JOIN source s ON s.id = e.source AND s.complete = 1
                        WHERE e.subject = u.id) AS events
FROM subject u;

-- What was read, and how well.
CREATE VIEW sources AS
SELECT path, sha256, format, state, why, bytes, events, skipped,
       strftime('%Y-%m-%dT%H:%M:%SZ', t0 / 1000000000, 'unixepoch') AS first_seen,
       strftime('%Y-%m-%dT%H:%M:%SZ', t1 / 1000000000, 'unixepoch') AS last_seen,
       claim, zone, covers, skew, parser, command
FROM source WHERE complete = 1;

-- Relations between identities.
CREATE VIEW links AS
SELECT l.relation, l.a, l.b,
       strftime('%Y-%m-%dT%H:%M:%SZ', l.t0 / 1000000000, 'unixepoch') AS "from",
       strftime('%Y-%m-%dT%H:%M:%SZ', l.t1 / 1000000000, 'unixepoch') AS "to",
       p.text AS path, l.line
FROM link l JOIN source s ON s.id = l.source AND s.complete = 1 JOIN path p ON p.id = l.path;

-- Evidence that could not be understood, with the reason.
CREATE VIEW gaps AS
SELECT s.path AS source, p.text AS path, k.line, k.reason, k.excerpt AS text
FROM skip k JOIN source s ON s.id = k.source AND s.complete = 1 JOIN path p ON p.id = k.path
UNION ALL
SELECT path, path, 0, why, '' FROM source WHERE complete = 1 AND state <> 'read';

-- Secrets by name, as lists have them.
CREATE VIEW credentials AS
SELECT c.name, c.part, c.class, c.store, u.kind AS subject_kind, u.name AS subject, c.owner, c.provider, c.alias, c.team, c.customer,
       strftime('%Y-%m-%dT%H:%M:%SZ', c.created / 1000000000, 'unixepoch') AS created,
       strftime('%Y-%m-%dT%H:%M:%SZ', c.updated / 1000000000, 'unixepoch') AS updated,
       strftime('%Y-%m-%dT%H:%M:%SZ', c.used / 1000000000, 'unixepoch') AS used,
       strftime('%Y-%m-%dT%H:%M:%SZ', c.expires / 1000000000, 'unixepoch') AS expires,
       c.state, p.text AS path, c.line
FROM credential c JOIN source s ON s.id = c.source AND s.complete = 1 JOIN subject u ON u.id = c.subject JOIN path p ON p.id = c.path;

-- Who said what, in the order it was said.
CREATE VIEW decisions AS
SELECT id, act, about, strftime('%Y-%m-%dT%H:%M:%SZ', at / 1000000000, 'unixepoch') AS at,
       strftime('%Y-%m-%dT%H:%M:%SZ', until / 1000000000, 'unixepoch') AS until, who, value, reason, incident,
       strftime('%Y-%m-%dT%H:%M:%SZ', said / 1000000000, 'unixepoch') AS said
FROM decision;

-- Verdicts as they were answered last, by incident.
CREATE VIEW verdicts AS
SELECT incident, revision, answered, subject, verdict, rule, because, artifact, channels, origins FROM (
  SELECT a.incident, a.revision, strftime('%Y-%m-%dT%H:%M:%SZ', a.at / 1000000000, 'unixepoch') AS answered, v.*,
         max(v.answer) OVER (PARTITION BY a.incident, v.subject) AS newest
  FROM verdict v JOIN answer a ON a.id = v.answer)
WHERE answer = newest AND verdict <> '';

-- How the verdict of each subject changed from answer to answer.
CREATE VIEW verdict_changes AS
SELECT v.answer AS run, a.incident, v.subject, strftime('%Y-%m-%dT%H:%M:%SZ', a.at / 1000000000, 'unixepoch') AS answered,
       substr(a.revision, 1, 12) AS revision, v.verdict, v.rule, v.because, v.origins
FROM verdict v JOIN answer a ON a.id = v.answer;

-- What collectors asked for, and what became of it.
CREATE VIEW ledger AS
SELECT c.collector, r.kind, r.url, r.outcome, r.status, r.detail, r.claim AS subject, r.sha256, r.bytes,
       strftime('%Y-%m-%dT%H:%M:%SZ', r.at / 1000000000, 'unixepoch') AS at
FROM inquiry r JOIN collection c ON c.id = r.collection;
