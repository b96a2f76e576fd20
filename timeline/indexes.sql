-- The indexes of events. They are made when the first load of a case ends, or
-- when the case is next opened for writing after a crash: sorting all rows once
-- costs a fraction of keeping them in order row by row. Without them every
-- query is only slower.
CREATE INDEX event_bundle ON event (bundle);
CREATE INDEX event_source ON event (source, op);
-- Contact, opaque and hold; build, push and tag.
CREATE INDEX event_opaque ON event (action) WHERE action IN (14, 15, 16);
CREATE INDEX event_made ON event (subject) WHERE action IN (9, 10, 11)
