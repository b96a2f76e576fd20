package evidence

import "pulltrail/timeline"

// Makes says that the subject of the current line makes the environment that it
// installs packages of the kind into, or may have made it: what it uses of that
// came on lines of its own.
func (o *Out) Makes(kind string) {
	key := seenKey{o.Subject(), timeline.MadeHere(kind)}
	if !ofJob(key.subject) || o.made[key] || len(o.made) >= maxStreams {
		return
	}
	if o.made == nil {
		o.made = map[seenKey]bool{}
	}
	o.made[key] = true
	if key.subject.Kind == timeline.Job && o.line != nil { // steps may have logs of their own
		o.Cover(timeline.Coverage{Subject: key.subject, Topic: key.topic, Span: o.run(o.span()), Why: "an environment is made"})
	}
}

// UsesInstalled says that the subject of the current line runs what is installed
// in an environment. Where no line of it made one, somebody else did: another
// job whose files it got, or one that ran at the same place before. where names
// it.
//
//	source .venv/bin/activate
func (o *Out) UsesInstalled(kind, where string) {
	who := o.Subject()
	key := seenKey{who, timeline.Topic(timeline.EnvironmentEnd + kind)}
	if !ofJob(who) || o.made[seenKey{who, timeline.MadeHere(kind)}] || o.made[key] || len(o.made) >= maxStreams {
		return
	}
	if o.made == nil {
		o.made = map[seenKey]bool{}
	}
	o.made[key] = true
	o.Seen(timeline.Topic(kind))
	o.Emit(timeline.Opaque, nil, timeline.Item{Artifact: timeline.Ecosystem(kind), Ref: timeline.EnvironmentEnd + Redact(where)})
}

// ofJob reports whether a subject may be a job.
func ofJob(who timeline.Subject) bool { return who.Kind == timeline.Job || who.Kind == timeline.Source }
