package tools

import (
	"context"
	"fmt"
	"slices"
)

// Bounds of an agent's notes.
const (
	todoItems = 50
	todoBytes = 500
)

// todoStates are how far an item is.
var todoStates = []string{"pending", "in_progress", "completed"}

// Todo is one item of an agent's notes to itself.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Todos is what todowrite and todoread answer.
type Todos struct {
	Todos []Todo `json:"todos"`
}

// writeTodos replaces the list.
func (c *Command) writeTodos(_ context.Context, a Todos) (Todos, error) {
	if len(a.Todos) > todoItems {
		return Todos{}, fail(BadArguments, "there are more than %d items", todoItems)
	}
	for _, t := range a.Todos {
		if len(t.Content) > todoBytes || !slices.Contains(todoStates, t.Status) {
			return Todos{}, fail(BadArguments, "an item has up to %d bytes of content and a status: %v", todoBytes, todoStates)
		}
	}
	c.todos = a
	return a, nil
}

func (c *Command) readTodos(context.Context, struct{}) (Todos, error) { return c.todos, nil }

func (t Todos) text() string {
	if len(t.Todos) == 0 {
		return "no items\n"
	}
	out := ""
	for _, i := range t.Todos {
		out += fmt.Sprintf("[%s] %s\n", i.Status, i.Content)
	}
	return out
}
