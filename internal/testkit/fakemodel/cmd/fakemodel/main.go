// Command fakemodel serves a scripted OpenAI-compatible model on the loopback interface. It prints its base URL on
// standard output and runs until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("listen", "127.0.0.1:0", "address to listen on")
	file := flag.String("script", "", "script file (JSON); without one, directives in prompts steer the answers")
	key := flag.String("key", "", "bearer key callers must present (overrides the script's; empty: any)")
	flag.Parse()
	var script fakemodel.Script
	if *file != "" {
		var err error
		if script, err = fakemodel.LoadScript(*file); err != nil {
			return err
		}
	}
	if *key != "" {
		script.Key = *key
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	s, err := fakemodel.Serve(l, script)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-ctx.Done()
	return s.Close()
}
