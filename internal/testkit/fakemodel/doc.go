// Package fakemodel is a model server for tests and demos: chat completions, responses and Anthropic messages (whole and
// streamed, with tools and structured output) and the list of models. It checks requests as the real API does, asks for a
// bearer key, answers from a script or as the conversation itself directs, misbehaves on demand, and remembers what it was
// asked.
//
// A directive is the text [[fakemodel: {...}]] anywhere in a message, with an Answer as JSON; the last one counts. Rules
// of the script come first, then directives, then the script's default.
package fakemodel
