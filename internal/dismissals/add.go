package dismissals

import (
	"bytes"
	"fmt"
	"strings"
)

// AlreadyError: a line dismisses the finding already.
type AlreadyError struct{ Line int }

func (e *AlreadyError) Error() string {
	return fmt.Sprintf("%s:%d dismisses it already", Name, e.Line)
}

// LineError: no line can say a dismissal.
type LineError struct{ What string }

func (e *LineError) Error() string { return e.What }

// Add adds a dismissal to the text of a file and gives its line, a number from 1. One of the same finding that has expired, or is for a less grave one, is replaced:
// *AlreadyError for one that has not, *LineError. A line for a value is for all like lines of its file, so what is said of another one in the same words is said by it.
func Add(text []byte, d Dismissal, today string) (out []byte, line int, err error) {
	said, what := d.Text()
	if what != "" {
		return nil, 0, &LineError{what}
	}
	if len(text) == 0 {
		text = []byte(Header)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	list, _ := Read(text)
	lines := strings.SplitAfter(string(text), "\n")
	lines = lines[:len(lines)-1]
	for _, have := range list {
		switch {
		case have.Mark.ID != d.Mark.ID:
		case have.Mark.Title != d.Mark.Title && have.Priority.Rank() <= d.Priority.Rank(): // the same code at another place: each finding has a line
		case d.Mark.Value && have.Mark.Value && have.By == d.By && have.Why == d.Why && have.Until == d.Until && have.Priority.Rank() <= d.Priority.Rank():
			return text, have.Line, nil
		case !have.Expired(today) && have.Priority.Rank() <= d.Priority.Rank():
			return nil, 0, &AlreadyError{have.Line}
		default:
			lines[have.Line-1] = said + "\n"
			return []byte(strings.Join(lines, "")), have.Line, nil
		}
	}
	return append(text[:len(text):len(text)], said+"\n"...), len(lines) + 1, nil
}
