package live

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// screen is the running Bubble Tea program. It reads the board at its own pace; events are not sent to it, so that a
// child that floods events cannot fill its queue.
type screen struct {
	program *tea.Program
	done    chan struct{}
	// columns is the newest width the terminal reported.
	columns atomic.Int64
	// rows is how many lines the newest frame has.
	rows atomic.Int64
}

const (
	refresh         = 125 * time.Millisecond
	framesPerSecond = 15
)

// open starts the program. The environment is fixed: with the real one Bubble Tea asks the terminal what it can do, and
// since nobody reads the input, the answer would land in the shell.
func (v *View) open() *screen {
	s := &screen{done: make(chan struct{})}
	env := []string{"TERM=xterm-256color", "SSH_TTY=none"}
	if !v.opts.Color {
		env = append(env, "NO_COLOR=1")
	}
	s.program = tea.NewProgram(&model{view: v, screen: s, width: v.opts.Width, height: 24},
		tea.WithInput(nil), tea.WithOutput(v.opts.Out), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
		tea.WithEnvironment(env), tea.WithWindowSize(v.opts.Width, 24))
	go func() {
		defer close(s.done)
		// An error here means the terminal is gone; the run goes on, and its result is printed where it can be.
		_, _ = s.program.Run()
	}()
	return s
}

func (s *screen) width() int { return int(s.columns.Load()) }

// wipe takes the last frame away. It must be closed before, which leaves the cursor below the frame.
func (s *screen) wipe(out io.Writer) {
	if n := s.rows.Swap(0); n > 0 {
		fmt.Fprintf(out, "\r\x1b[%dA\x1b[J", n)
	}
}

// close draws the last frame and gives the terminal back.
func (s *screen) close() {
	s.program.Quit()
	<-s.done
}

type tick struct{}

func again() tea.Cmd { return tea.Tick(refresh, func(time.Time) tea.Msg { return tick{} }) }

// model is what Bubble Tea draws.
type model struct {
	view          *View
	screen        *screen
	width, height int
	// tall is the most lines a frame had. Bubble Tea leaves the top of a frame behind when the next one is shorter, so
	// frames never get shorter.
	tall int
}

// Init starts the clock.
func (m *model) Init() tea.Cmd { return again() }

// Update keeps the size; everything else stands on the board.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.screen.columns.Store(int64(msg.Width))
	case tick:
		return m, again()
	}
	return m, nil
}

// View draws the board. One column stays free: terminals wrap at the last one.
func (m *model) View() tea.View {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	lines := m.view.board.lines(m.width-1, m.height-1, m.view.opts.now(), palette(m.view.opts.Color))
	for m.tall = min(max(m.tall, len(lines)), max(m.height-1, 1)); len(lines) < m.tall; {
		lines = append(lines, "")
	}
	m.screen.rows.Store(int64(len(lines)))
	view := tea.NewView(strings.Join(lines, "\n") + "\n")
	view.Cursor = tea.NewCursor(0, len(lines)) // below the lines, so that an echoed ^C does not stand in one of them
	return view
}
