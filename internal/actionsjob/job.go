// Package actionsjob is a job of GitHub Actions that runs prloop: the event it was started by and the inputs of the action become orders, and
// the lines of a comment are answered one after the other.
package actionsjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prloop/prloop/internal/actions"
	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
)

// EnvInputs holds the inputs of the action, as JSON.
const EnvInputs = "PRLOOP_INPUTS"

// longestEvent is how large an event may be, in bytes; GitHub sends none that is larger.
const longestEvent = 25 << 20

// A Job is what is to be done about the event of a job, and how.
type Job struct {
	actions.Decision
	// Repository is the job's own, as HOST/OWNER/NAME.
	Repository string
	// Settings are those of the inputs, Reviewers the reviewers they name.
	Settings  []config.Given
	Reviewers []string
	// SARIF is the file that findings are written to; empty for none. Bot is the login whose mention is heard, where it is given.
	SARIF, Bot string

	given actions.Given
	again bool
}

// Read reads the event of a job and the inputs of the action from the environment.
func Read(env func(string) string) (Job, error) {
	j := Job{again: cmp.Or(env("GITHUB_RUN_ATTEMPT"), "1") != "1"}
	var err error
	if j.given, err = actions.ReadInputs(env(EnvInputs)); err != nil {
		return j, advice.Misuse("docs/ci.md lists the inputs of the action", "%w", err)
	}
	e := actions.Event{Name: env("GITHUB_EVENT_NAME"), Job: env("GITHUB_JOB"), Repository: env("GITHUB_REPOSITORY"), PR: j.given.PR(), Label: j.given["label"]}
	if e.Name == "" || e.Repository == "" {
		return j, advice.Misuse("review a pull request with: prloop run 123", "this is no job of GitHub Actions: GITHUB_EVENT_NAME and GITHUB_REPOSITORY are not set")
	}
	if path := env("GITHUB_EVENT_PATH"); path != "" {
		if e.Payload, err = readEvent(path); err != nil {
			return j, err
		}
	}
	if j.Decision, err = actions.Decide(e); err != nil {
		return j, advice.Misuse("let GitHub Actions set GITHUB_EVENT_PATH", "%w", err)
	}
	host := strings.TrimPrefix(cmp.Or(env("GITHUB_SERVER_URL"), "https://github.com"), "https://")
	j.Repository = strings.TrimSuffix(host, "/") + "/" + e.Repository
	j.read(env)
	return j, nil
}

func readEvent(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for somebody who writes
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestEvent+1))
	if err == nil && len(data) > longestEvent {
		err = fmt.Errorf("it is larger than %d MB", longestEvent>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	return data, nil
}

// read turns the inputs into settings.
func (j *Job) read(env func(string) string) {
	j.SARIF, j.Bot = j.given["sarif"], j.given["bot-name"]
	if names := j.given["reviewers"]; names != "" {
		j.Reviewers = strings.Split(names, ",")
	}
	if j.Fork && j.given["api-key"] == "" && env("OPENAI_API_KEY") == "" {
		j.Reviewers = []string{"static"} // a fork's job has no secrets: rules look, and the report says so
	}
	for _, in := range actions.Inputs {
		if v := j.given[in.Name]; v != "" && in.Setting != "" {
			j.Settings = append(j.Settings, config.Given{Key: in.Setting, Value: v, From: "input " + in.Name})
		}
	}
}

// Fixes reports whether reviews of the job fix what they find.
func (j Job) Fixes() bool { return j.given["fix"] == "true" }

// Itself reports whether nobody asked for the review of the job: the event of a pull request began it, and nobody began it anew.
func (j Job) Itself() bool { return j.Head != "" && !j.again }

// CheckWeb holds the input enable-web against what agents could reach under some settings.
func (j Job) CheckWeb(s config.Settings) error {
	some := len(s.FetchHosts) > 0 || s.WebSearch.Provider != ""
	switch want := j.given["enable-web"]; {
	case want == "true" && !some:
		return advice.Misuse("name hosts with the input web-hosts, or a search provider in your configuration (web_search)", "the input enable-web is true, and nothing on the web may be read")
	case want == "false" && some:
		return advice.Misuse("take web-hosts, web_fetch.hosts and web_search out", "the input enable-web is false, and hosts or a search provider are named")
	}
	return nil
}

// Answers is what a comment's lines are answered with.
type Answers struct {
	Service *app.Service
	// Order makes the order of a review; with fixes, one that fixes what it finds.
	Order func(fixes bool) (app.Order, error)
	// Begin gives whom the news of a run is for, and what is done when it has ended or stopped.
	Begin func() (emit func(review.Event), end func(app.Ended, error) error)
	// Log writes one line for whoever reads the job's log.
	Log func(string)
}

// Answer answers what the comment of the job asks for, one line after the other. The error is that of the last line that has one.
func (j Job) Answer(ctx context.Context, w Answers) error {
	order, err := w.Order(false)
	if err != nil {
		return err
	}
	asks, why, err := w.Service.Hear(ctx, app.Comment{
		Target: order.Target, ID: j.Asked.ID, UpdatedAt: j.Asked.UpdatedAt, Bot: j.Bot, Again: j.again,
		Heard: trigger.Comment{Action: j.Asked.Action, PullRequest: j.Asked.PullRequest, Author: j.Asked.Author, Body: j.Asked.Body},
	}, order)
	if err != nil {
		return err
	}
	if why != "" {
		w.Log(why)
		return nil
	}
	var last error
	for _, a := range asks {
		url, done, err := w.Service.Reply(ctx, order, a)
		switch {
		case done && err == nil:
			w.Log("answered: " + url)
		case !done:
			err = j.run(ctx, w, a)
		}
		if err != nil {
			last = err
		}
		if ctx.Err() != nil {
			return last
		}
	}
	return last
}

// run reviews the pull request because a line asks for it, or runs the command that the line names.
func (j Job) run(ctx context.Context, w Answers, a app.Ask) error {
	order, err := w.Order(a.Word == trigger.Fix || j.Fixes())
	if err != nil {
		return err
	}
	if a.ID != "" {
		order.Command = &app.CommandOrder{ID: a.ID, Args: a.Args, Argv: a.Argv}
	}
	emit, end := w.Begin()
	ended, err := w.Service.RunAsked(ctx, order, a, emit)
	var held *store.HeldError
	switch {
	case errors.Is(err, engine.ErrBusy), errors.As(err, new(*store.AnsweredError)):
		w.Log("another process answers the comment")
		return nil
	case errors.As(err, &held):
		_, err = w.Service.Answer(ctx, order.Target, a, "A run is in hand on this pull request already. Ask again when it has ended, or end it: `!prloop stop`.")
		return err
	}
	return end(ended, err)
}
