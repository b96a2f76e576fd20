-- The indexes of events. They are made when the first load of a case ends, or
-- when the case is next opened for writing after a crash: sorting all rows once
-- costs a fraction of keeping them in order row by row. Without them every
-- query is only slower.
CREATE INDEX event_bundle ON event (bundle);
CREATE INDEX event_source ON event (source, op);
-- A query uses one of these only if it names the same actions: opaque, hold.
CREATE INDEX event_opaque ON event (subject, t0, t1, action) WHERE action = 15;
CREATE INDEX event_hold ON event (subject) WHERE action = 16;
-- Build, push and tag; a list in place of the range costs five times as much here.
CREATE INDEX event_made ON event (subject) WHERE action BETWEEN 9 AND 11;
CREATE INDEX event_contact ON event (subject, bundle, source, action) WHERE action = 14
