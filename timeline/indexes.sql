-- The indexes of events that hold many of them. They are made when the first load
-- of a case ends, or when the case is next opened for writing after a crash:
-- sorting all rows once costs a fraction of keeping them in order row by row.
-- Without them every query is only slower.
CREATE INDEX IF NOT EXISTS event_bundle ON event (bundle);
CREATE INDEX IF NOT EXISTS event_source ON event (source, op);
CREATE INDEX IF NOT EXISTS event_contact ON event (subject, bundle, source, action) WHERE action = 14;
-- Those that hold few are there from the beginning (schema.sql), but for a case
-- that another build of this release began.
CREATE INDEX IF NOT EXISTS event_opaque ON event (subject, t0, t1, action, bundle) WHERE action = 15;
CREATE INDEX IF NOT EXISTS event_hold ON event (subject) WHERE action = 16;
CREATE INDEX IF NOT EXISTS event_made ON event (subject) WHERE action BETWEEN 9 AND 11;
CREATE INDEX IF NOT EXISTS link_placed ON link (relation) WHERE relation <> 'holds'
