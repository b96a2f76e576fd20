package document

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// eventRows reads the tables of events that kubectl prints. Their columns have
// changed with the releases, and who pastes one often loses the blanks between
// them, so a row is cut at what never changed: the type, the reason after it,
// and the words of the kubelet.
type eventRows struct {
	table     bool         // rows that start with an age may follow
	namespace bool         // whose first column is the namespace
	one       bool         // all rows are of one pod
	last      scheduledPod // the pod that the last row on a scheduler named
	pods      map[string]scheduledPod
}

// scheduledPod is a pod, and the node that the scheduler gave it.
type scheduledPod struct{ namespace, pod, node string }

// maxAssigned bounds the pods that are remembered.
const maxAssigned = 4096

// line reads a line of text and records what it proves.
func (k *eventRows) line(text string, o *evidence.Out) evidence.Result {
	e, ok := k.read(text, o)
	if !ok {
		return evidence.Miss
	}
	if e.message != "" {
		e.record(o)
	}
	return evidence.Done
}

// read reads a line of a table; without a message it is none on an image.
//
//	  Normal   Pulled     3m (x2 over 4m)        kubelet, node-3    Container image "acme/todo:latest" already present on machine
//	LAST SEEN   TYPE      REASON      OBJECT        MESSAGE
//	4m21s       Normal    Pulled      pod/web-1     Successfully pulled image "acme/todo:latest" in 8.255s
//	NAMESPACE   LAST SEEN   TYPE      REASON      OBJECT        SUBOBJECT   SOURCE   MESSAGE   FIRST SEEN   COUNT   NAME
//	LASTSEEN   FIRSTSEEN   COUNT     NAME    KIND   SUBOBJECT   TYPE   REASON   SOURCE   MESSAGE
//	FirstSeen    LastSeen    Count   From            SubobjectPath           Type        Reason      Message
func (k *eventRows) read(text string, o *evidence.Out) (e kubeEvent, ok bool) {
	head := strings.Join(strings.Fields(text), " ")
	switch {
	case strings.HasPrefix(head, "Type Reason Age From Message"):
		k.last = scheduledPod{}
		return e, true
	case strings.HasPrefix(head, "LAST SEEN "), strings.HasPrefix(head, "LASTSEEN FIRSTSEEN "), strings.HasPrefix(head, "FirstSeen LastSeen "), // of kubectl describe too
		strings.HasPrefix(head, "NAMESPACE ") && (strings.Contains(head, " LAST SEEN ") || strings.Contains(head, " LASTSEEN ")):
		*k = eventRows{table: true, namespace: text[0] == 'N', one: text[0] == 'F', pods: k.pods}
		o.Listen()
		return e, true
	case strings.HasPrefix(head, "Normal "), strings.HasPrefix(head, "Warning "):
		return k.described(text, o)
	case !k.table:
		return e, false
	case head != "" && strings.Trim(head, "- ") == "":
		return e, true
	}
	if e, ok = k.row(text, o); !ok {
		k.table = false
		o.Deafen()
	}
	return e, ok
}

// typed finds the type of an event in a row.
var typed = regexp.MustCompile(`(?:^|\s)(?:Normal|Warning)\s+([A-Z][A-Za-z]+)\s`)

// described reads a row of kubectl describe: type, reason, age, source and
// message.
func (k *eventRows) described(row string, o *evidence.Out) (e kubeEvent, ok bool) {
	at := typed.FindStringSubmatchIndex(row)
	if at == nil {
		return e, false
	}
	after := strings.TrimLeft(row[at[1]:], " \t")
	age := leadingAge(after)
	if age == "" {
		return e, false
	}
	e.span = aged(age, o)
	k.tell(&e, row[at[2]:at[3]], "", after[len(age):], true, o)
	return e, true
}

// row reads a row of a table whose rows start with an age.
func (k *eventRows) row(row string, o *evidence.Out) (e kubeEvent, ok bool) {
	at := typed.FindStringSubmatchIndex(row)
	if at == nil {
		return e, false
	}
	before := row[:at[0]]
	if k.namespace {
		first, _, _ := strings.Cut(strings.TrimSpace(before), " ")
		e.namespace, before = first, strings.TrimLeft(strings.TrimPrefix(before, first), " \t")
	}
	age := leadingAge(before)
	if age == "" {
		return e, false
	}
	e.span = aged(age, o)
	k.tell(&e, row[at[2]:at[3]], before[len(age):], row[at[1]:], k.one, o)
	return e, true
}

// tell takes what a row says beside its age. In a table of kubectl describe all
// rows are of one pod.
func (k *eventRows) tell(e *kubeEvent, reason, before, after string, onePod bool, o *evidence.Out) {
	o.Seen("")
	switch reason {
	case "Scheduled":
		k.assigned(after)
	case "Pulled":
		head := after
		for _, start := range []string{`Successfully pulled image "`, `Container image "`} {
			if i := strings.Index(after, start); i >= 0 {
				head, e.message = before+" "+after[:i], after[i:]
				break
			}
		}
		e.node, e.pod = kubeletOf(head), podOf(head)
		a := k.pods[e.pod]
		if onePod {
			a, e.pod = k.last, k.last.pod
		}
		if e.namespace == "" {
			e.namespace = a.namespace
		}
		if e.node == "" && o.Subject().Kind != timeline.Host {
			e.node = a.node
		}
		if e.namespace != "" { // else nothing says which pod of the name it is
			e.container = fieldContainer(specPath.FindString(head))
		}
	}
}

// assigned notes the node of a pod; old releases leave the namespace out.
//
//	Successfully assigned default/web-1 to node-3
func (k *eventRows) assigned(text string) {
	_, text, ok := strings.Cut(text, "Successfully assigned ")
	words := strings.Fields(text)
	if !ok || len(words) < 3 || words[1] != "to" {
		return
	}
	namespace, pod, both := strings.Cut(words[0], "/")
	if !both {
		namespace, pod = "", namespace
	}
	k.last = scheduledPod{namespace, pod, words[2]}
	if k.pods == nil {
		k.pods = map[string]scheduledPod{}
	}
	if len(k.pods) < maxAssigned {
		k.pods[pod] = k.last
	}
}

// specPath is the container that an event is about: spec.containers{web}.
var specPath = regexp.MustCompile(`spec\.\w*[cC]ontainers\{[^}\s]+\}`)

// kubeletSource is the kubelet that reports: "kubelet, node-3", or
// "{kubelet node-3}" of old.
var kubeletSource = regexp.MustCompile(`(?:^|\s)(?:kubelet, |\{kubelet )([^\s}]+)`)

func kubeletOf(text string) string {
	if m := kubeletSource.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// podObject is the pod of a row: pod/web-1, Pod/web-1, or a name before its
// kind; that may be the event's own name, whose last part is a number.
var podObject = regexp.MustCompile(`(?:^|\s)(?:[pP]od/(\S+)|(\S+?)(?:\.[0-9a-f]{16})?\s+Pod(?:\s|$))`)

func podOf(text string) string {
	if m := podObject.FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// ageCell is an age: 4m21s, 3m31s (x4 over 4m21s), <unknown>.
var ageCell = regexp.MustCompile(`^(?:<unknown>|<invalid>|(?:\d+[ywdhms])+)(?: \(x\d+ over [^)]*\))?(?:\s|$)`)

func leadingAge(text string) string { return strings.TrimSpace(ageCell.FindString(text)) }

// aged is the time of what has only an age: before it was printed.
func aged(age string, o *evidence.Out) timeline.Span {
	printed := o.Mark().Span()
	return timeline.Span{From: timeline.Beginning, To: printed.To, Clock: timeline.Relative, Written: age}
}
