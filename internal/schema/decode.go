package schema

import (
	"encoding/json"
	"reflect"

	"github.com/prloop/prloop/review"
)

// DecodeTask reads the request an agent gets. It is prloop's own writing, so arrays may be null and the cap is wider.
func DecodeTask(data []byte) (review.Task, Notes, error) {
	t, notes, err := decode[review.Task]("task", data, options{limit: maxTask, values: maxTaskValues, nullArrays: true})
	if err == nil && t.Version > review.TaskVersion {
		err = Refuse("task", Fault{"version", "is newer than this program understands"})
	}
	if err != nil {
		return review.Task{}, notes, err
	}
	return t, notes, nil
}

// DecodeEvent reads one event line of a child. Agent and Time are prloop's to set and come back empty.
func DecodeEvent(line []byte) (review.Event, Notes, error) {
	e, notes, err := decode[review.Event]("event", line, options{limit: maxEvent, values: maxEventValue})
	if err != nil {
		return review.Event{}, notes, err
	}
	clean := review.Event{Kind: e.Kind, Message: e.Message, Level: e.Level, State: e.State, Usage: e.Usage}
	return clean, notes, nil
}

type options struct {
	// limit is the cap on the document in bytes, values that on its values and names.
	limit, values int
	nullArrays    bool
	// complete puts into a parsed document what may be missing in it; nil puts nothing.
	complete func(v any)
}

// Decode reads one bare JSON document of a shape: bytes, syntax, fields, schema, and only then Go values. complete puts into the parsed
// document what may be missing in it; nil puts nothing. The error is an *Error that lists every fault found; the notes tell what was put
// right.
func Decode[T any](name string, data []byte, complete func(v any)) (T, Notes, error) {
	return decode[T](name, data, options{limit: MaxBytes, values: MaxValues, complete: complete})
}

func decode[T any](name string, data []byte, o options) (T, Notes, error) {
	var zero, out T
	v, faults := parse(data, o)
	if len(faults) > 0 {
		return zero, nil, Refuse(name, faults...)
	}
	if o.complete != nil {
		o.complete(v)
	}
	p := pruner{nullArrays: o.nullArrays}
	v = p.value(v, reflect.TypeFor[T](), "")
	invalid, err := validate(name, v)
	if err != nil {
		return zero, p.notes, err
	}
	if faults := append(p.faults, invalid...); len(faults) > 0 {
		return zero, p.notes, Refuse(name, faults...)
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return zero, p.notes, Refuse(name, Fault{"", err.Error()})
	}
	return out, p.notes, nil
}
