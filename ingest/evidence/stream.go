package evidence

import (
	"time"

	"pulltrail/timeline"
)

// maxStreams bounds the open streams of one source.
const maxStreams = 4096

// Stream is a node (parent, frame, key): the lines of one build step, one
// container, one host. It holds what is known of them and the state of the
// tools open in it.
type Stream struct {
	Parent  *Stream
	Subject timeline.Subject // zero: the parent's
	Program string           // the program that wrote the lines, when the frame names it ("dockerd")
	Last    Stamp            // for frames: the time of the last line, to inherit

	// Excerpts says that the stream is a log to which programs write what they
	// choose (syslog): that a tool printed to it once does not mean that it
	// holds all of what the tool did. See Out.Seen.
	Excerpts bool

	// OpParent is the operation that this stream's commands belong to (a build
	// and its steps); 0 is none.
	OpParent int64

	prints   bool   // see Out.Prints
	prose    bool   // see Out.SetProse
	failed   bool   // see Failed
	frames   uint64 // bits of the frames above, so that none is entered twice
	children map[streamKey]*Stream
	parsers  []Parser // by the number of the tool; nil before the first one
	more     int      // 1 + index of the tool that asked for the next line
	watch    uint64   // bits of the frames that are asked about all lines that start as theirs
	next     int      // 1 + index of the frame that asked for the next line
	listen   toolSet  // the tools that are asked about lines of any start
	took     toolSet  // the tools that are asked about all lines that start with their words
	commands []*Op
	asked    int64 // number of the last command that was echoed
	years    *yearOrder
	run      clockRun
}

// order follows the years of the log that the stream's lines are of: those of
// one host, or of the whole source.
func (s *Stream) order() *yearOrder {
	for s.Parent != nil && s.Subject.IsZero() {
		s = s.Parent
	}
	if s.years == nil {
		s.years = &yearOrder{}
	}
	return s.years
}

// Listen says that the tool at work wants to see lines of the current stream
// whatever they start with, after every tool that knows their first word. A
// list of packages has no word of its own.
func (o *Out) Listen() { o.stream.listen.add(o.at) }

// Deafen ends Listen.
func (o *Out) Deafen() { o.stream.listen.drop(o.at) }

// Heed says that the tool at work wants to see lines of the current stream that
// start with its words also if they do not look like its own, though it has
// taken none.
func (o *Out) Heed() { o.stream.took.add(o.at) }

// SetPrints says whether the command whose output follows in the current
// stream only prints what stands in files (cat, git diff).
func (o *Out) SetPrints(yes bool) { o.stream.prints = yes }

// SetProse says whether the command whose output follows in the current stream
// prints texts that people wrote (cat README.md): what looks like a tool's output
// there is an example. Commands that a shell traces are read.
func (o *Out) SetProse(yes bool) { o.stream.prose = yes }

// Prose reports what SetProse said.
func (o *Out) Prose() bool { return o.stream.prose }

// Prints reports whether the current line is of a file that a command printed:
// a list in it is nobody's output.
func (o *Out) Prints() bool { return o.stream.prints }

// Watch says that the frame at work wants to see the lines of s that start with
// one of its First, also those that do not look like its own.
func (o *Out) Watch(s *Stream) { s.watch |= 1 << o.frame }

// Unwatch ends Watch.
func (o *Out) Unwatch(s *Stream) { s.watch &^= 1 << o.frame }

type streamKey struct {
	frame int
	key   string
}

// Child returns the stream below s that the frame calls key. Frames get their
// number from the engine through Out.Frame.
func (s *Stream) Child(o *Out, key []byte) *Stream {
	if c := s.children[streamKey{o.frame, string(key)}]; c != nil {
		return c
	}
	if s.children == nil {
		s.children = map[streamKey]*Stream{}
	}
	if len(s.children) >= maxStreams {
		for _, c := range s.children {
			c.end(o, timeline.OpCut)
		}
		clear(s.children)
	}
	c := &Stream{Parent: s, Program: s.Program, OpParent: s.OpParent, frames: s.frames | 1<<o.frame}
	s.children[streamKey{o.frame, string(key)}] = c
	return c
}

// Drop ends the child that the frame calls key and forgets it.
func (s *Stream) Drop(o *Out, key []byte) {
	k := streamKey{o.frame, string(key)}
	if c := s.children[k]; c != nil {
		c.end(o, timeline.OpOpen)
		delete(s.children, k)
	}
}

// Who returns the subject of the stream: its own or that of the nearest stream
// above that has one; zero when the evidence names nobody.
func (s *Stream) Who() timeline.Subject {
	for ; s != nil; s = s.Parent {
		if !s.Subject.IsZero() {
			return s.Subject
		}
	}
	return timeline.Subject{}
}

func (s *Stream) excerpts() bool {
	for ; s != nil; s = s.Parent {
		if s.Excerpts {
			return true
		}
	}
	return false
}

// Step says that a new step begins in s: tools that are open are ended, and
// commands that were echoed get no answer any more.
func (s *Stream) Step(o *Out) { s.end(o, timeline.OpOpen) }

// Reused is Step for a step that did not run because a cached result stood for
// it: its commands end as cached, and none of them is opaque.
func (s *Stream) Reused(o *Out) { s.end(o, timeline.OpCached) }

// Commands returns the echoed commands of the step.
func (s *Stream) Commands() []*Op { return s.commands }

func (s *Stream) end(o *Out, how timeline.OpState) {
	for _, c := range s.children {
		c.end(o, how)
	}
	before := o.stream
	o.stream = s
	for i, p := range s.parsers {
		if p != nil {
			o.at = i
			p.End(how, o)
		}
	}
	clear(s.parsers)
	s.more, s.listen, s.took, s.prints, s.prose = 0, toolSet{}, toolSet{}, false, false
	for _, op := range s.commands {
		o.finish(op, how)
	}
	s.commands, s.failed = nil, false
	o.stream = before
}

// Op is one invocation of a tool: an ask in it is cleared only by an answer in
// it.
type Op struct {
	timeline.Op
	// Quiet says that the command prints no versions: its output answers
	// nothing.
	Quiet bool

	taken    bool  // a tool's output was taken for this command's
	since    int64 // number of the newest operation when it was taken
	script   bool  // echoed as a line of a script, before the script ran
	ran      int64 // line on which it was shown to run; 0: a line of a script told of it
	passed   bool  // the same tool was run again, and no output had come
	speaks   bool  // see Speaks
	indirect bool  // see Indirect
	given    bool  // it was a setting: see Line.Given
	answered bool
	opaque   []timeline.Item
	mark     Mark
	done     bool
}

// Answer says that the invocation printed what it did, with versions.
func (op *Op) Answer() { op.answered = true }

// Speaks says that the command ran and prints something whatever it finds, as
// what builds an image does: where nothing came, its output is not in the log.
func (op *Op) Speaks() { op.speaks = true }

// Indirect says that the command runs others which need not be shown: what a
// tool prints for which no command is there is of one of them, and an answer.
func (op *Op) Indirect() { op.indirect = true }

// Spoken says that something was printed of the kind that commands print which
// speak.
func (s *Stream) Spoken() {
	for ; s != nil; s = s.Parent {
		for _, op := range s.commands {
			op.answered = op.answered || op.speaks
		}
	}
}

// Failed says that the step at work failed, or was ended: the commands that it
// shows need not all have run.
func (s *Stream) Failed() { s.failed = true }

// Asked returns the line of the command that the invocation belongs to; ok is
// false when none was echoed.
func (op *Op) Asked() (m Mark, ok bool) { return op.mark, op.Op.Command != "" }

// Command registers a command that was echoed in the current stream. opaque
// lists what an opaque event is made of when no output answers it: nil makes
// none.
//
// A shell that traces prints a command of a script again when it runs: traced
// reports that the command stands for one that was registered before.
func (o *Out) Command(tool, command string, quiet bool, opaque []timeline.Item) (op *Op, traced bool) {
	s := o.stream
	script := o.line != nil && o.line.Echo
	if !script {
		for _, op := range s.commands {
			if op.script && !op.taken && op.Tool == tool && op.Op.Command == Redact(command) {
				op.script = false
				o.ops++
				s.asked = o.ops
				o.pass(op)
				return op, true
			}
		}
	}
	if o.line != nil && o.line.Runs {
		s.shown(tool)
	}
	op = o.newOp(tool, command)
	op.given = o.line != nil && o.line.Given
	op.Quiet, op.opaque, op.mark, op.script = quiet, opaque, o.Mark(), script
	if len(s.commands) >= maxCommands {
		o.finish(s.commands[0], timeline.OpOpen)
		s.commands = s.commands[1:]
	}
	s.commands = append(s.commands, op)
	s.asked = op.Number
	if !script || o.line.Runs {
		o.pass(op)
	}
	return op, false
}

// shown drops what a setting asks for of a tool: the program that was given it
// shows now what it runs.
func (s *Stream) shown(tool string) {
	for _, op := range s.commands {
		if op.given && op.Tool == tool && !op.taken {
			op.taken, op.opaque = true, nil
		}
	}
}

// pass notes that op runs on the current line, and that the commands for its
// tool that ran on lines before printed nothing: what comes is not of them.
func (o *Out) pass(op *Op) {
	if o.line == nil {
		return
	}
	op.ran = o.line.No
	for _, c := range o.stream.commands {
		if c.Tool == op.Tool && !c.taken && c.ran > 0 && c.ran < op.ran {
			c.passed = true
		}
	}
}

// awaits reports whether output of the tool may be of the command.
func (op *Op) awaits(tool string) bool {
	return op.Tool == tool && !op.Quiet && !op.taken && !op.passed
}

// maxCommands bounds the echoed commands of one step that wait for output.
const maxCommands = 256

// Invocation returns the operation that a tool's output belongs to: the next
// command for this tool that was echoed in the stream and has no output yet,
// or a new one. A tool calls it once for each invocation it sees.
func (o *Out) Invocation(tool string) *Op {
	for _, op := range o.stream.commands {
		if op.awaits(tool) {
			op.taken, op.since = true, o.ops
			return op
		}
	}
	op := o.newOp(tool, "")
	op.taken, op.since = true, o.ops
	for _, c := range o.stream.commands {
		c.answered = c.answered || c.indirect
	}
	return op
}

// Overtaken reports whether another command was echoed in the current stream
// after op's output began: what follows is not op's any more. Commands that
// were echoed before, as a script that is printed ahead of its run, do not
// count.
func (o *Out) Overtaken(op *Op) bool { return o.stream.asked > op.since }

// Awaited reports whether a command for the tool was echoed in the current
// stream whose output has not been seen.
func (o *Out) Awaited(tool string) bool {
	for _, op := range o.stream.commands {
		if op.awaits(tool) {
			return true
		}
	}
	return false
}

// newOp numbers a new operation of the current stream.
func (o *Out) newOp(tool, command string) *Op {
	o.ops++
	return &Op{Op: timeline.Op{Number: o.ops, Parent: o.stream.OpParent, Tool: tool, Command: Redact(command), State: timeline.OpOpen}}
}

// NewOp makes an operation that no command stands for: a build, a step.
func (o *Out) NewOp(tool, command string) *Op { return o.newOp(tool, command) }

// Close stores the operation with its end. Events of it may still come.
func (o *Out) Close(op *Op, state timeline.OpState) {
	if op == nil {
		return
	}
	op.State = state
	op.done = true
	o.batch.Ops = append(o.batch.Ops, op.Op)
}

// until is the mark of a command that nothing answered, up to the current line,
// on which its step ends: a script is shown before it runs, so that the last of
// its commands may have run much later. Within a minute it does not matter.
func (o *Out) until(m Mark) Mark {
	if o.line == nil || m.span.Clock != timeline.Exact {
		return m
	}
	end := o.Mark()
	if end.span.Clock != timeline.Exact || end.span.To-m.span.To < int64(time.Minute) {
		return m
	}
	return m.Until(end)
}

// finish ends a command: when nothing answered it, it was opaque.
func (o *Out) finish(op *Op, how timeline.OpState) {
	if !op.answered && op.opaque != nil && how != timeline.OpCached && !(op.speaks && o.stream.failed) {
		o.At(o.until(op.mark), timeline.Event{Action: timeline.Opaque, Items: op.opaque, Op: op.Number})
	}
	if !op.answered && op.opaque != nil && how == timeline.OpCached { // it ran some time before
		span := op.mark.span
		span.From, span.Clock = timeline.Beginning, timeline.Section
		o.At(op.mark, timeline.Event{Action: timeline.Opaque, Items: op.opaque, Op: op.Number, Span: span})
	}
	if !op.done {
		o.Close(op, how)
	}
}
