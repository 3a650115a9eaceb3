// Command pictures draws the reports of docs/report.md and the thread of docs/threads.md as GitHub shows them, in light and in dark: Markdown files to PNG files, through
// Chromium. The style sheet is our own and small; what matters is what a reader sees first.
//
//	go run ./tools/pictures internal/cli/testdata/reports docs/report
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures FROM TO")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.md"))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		for _, scheme := range []string{"light", "dark"} {
			if err := picture(file, filepath.Join(to, name+"-"+scheme+".png"), temp, scheme, name == "step-summary"); err != nil {
				return fmt.Errorf("%s, %s: %w", name, scheme, err)
			}
		}
	}
	return nil
}

// width and height are the window, in pixels; a report is cut off below its end.
const (
	width  = 940
	height = 2400
)

func picture(file, to, temp, scheme string, bare bool) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head := `<div class="head"><b>octocat</b> commented <span>now</span></div>`
	if bare {
		head = `<div class="head"><b>review</b> summary</div>`
	}
	thread := saids.FindAllSubmatchIndex(source, -1)
	if len(thread) > 0 {
		head = ""
	}
	var box bytes.Buffer
	from := 0
	for _, said := range thread {
		if err := section(&box, head, source[from:said[0]]); err != nil {
			return err
		}
		head, from = fmt.Sprintf(`<div class="head"><b>%s</b> %s</div>`, source[said[2]:said[3]], verbs[string(source[said[4]:said[5]])]), said[1]
	}
	if err := section(&box, head, source[from:]); err != nil {
		return err
	}
	page := filepath.Join(temp, "page.html")
	text := "<!doctype html><meta charset=utf-8><style>" + style + "</style><body class=" + scheme + `><div class="box">` + box.String() + "</div>"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return err
	}
	shot := filepath.Join(temp, "page.png")
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+filepath.Join(temp, "profile"),
		fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+shot, "file://"+page)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return trim(shot, to)
}

// saids are the lines of a thread's source that say who did what; what stands before the first is the code the thread is about.
var saids = regexp.MustCompile(`(?m)^<!-- (\w+) (commented|resolved) -->$`)

var verbs = map[string]string{"commented": "commented", "resolved": "marked this conversation as resolved"}

// section draws a comment below its head; one without words has a head alone.
func section(w *bytes.Buffer, head string, source []byte) error {
	w.WriteString(head)
	if len(bytes.TrimSpace(source)) == 0 {
		return nil
	}
	w.WriteString(`<div class="body">`)
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps())) // comments keep their line ends
	if err := md.Convert(source, w); err != nil {
		return err
	}
	w.WriteString("</div>")
	return nil
}

// trim cuts the empty rows below a picture, and keeps 256 colours, which is plenty for text.
func trim(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	img, err := png.Decode(in)
	if err != nil {
		return err
	}
	b := img.Bounds()
	end := b.Max.Y
	for ; end > b.Min.Y+1 && plain(img, end-1); end-- {
	}
	out := image.NewPaletted(image.Rect(0, 0, b.Dx(), min(end+16, b.Max.Y)), palette(img, end))
	draw.Draw(out, out.Bounds(), img, b.Min, draw.Src)
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, out); err != nil {
		return err
	}
	return os.WriteFile(to, buf.Bytes(), 0o644)
}

// plain reports whether a row has one colour.
func plain(img image.Image, y int) bool {
	first := img.At(0, y)
	for x := 1; x < img.Bounds().Dx(); x++ {
		if img.At(x, y) != first {
			return false
		}
	}
	return true
}

// palette are the colours that occur most, by a coarse count.
func palette(img image.Image, end int) color.Palette {
	count := map[color.RGBA]int{}
	for y := range end {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			count[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
		}
	}
	var out color.Palette
	for len(out) < 256 && len(count) > 0 {
		var best color.RGBA
		most := 0
		for c, n := range count {
			if n > most || n == most && (c.R < best.R || c.R == best.R && (c.G < best.G || c.G == best.G && c.B < best.B)) {
				best, most = c, n
			}
		}
		out = append(out, best)
		delete(count, best)
	}
	return out
}

const style = `
body { margin: 0; padding: 16px; font: 14px/1.5 "Liberation Sans", "DejaVu Sans", sans-serif; }
.light { --fg: #1f2328; --muted: #59636e; --bg: #fff; --line: #d1d9e0; --code: #eff1f3; --pre: #f6f8fa; --link: #0969da; }
.dark { --fg: #f0f6fc; --muted: #9198a1; --bg: #0d1117; --line: #3d444d; --code: #2a313a; --pre: #151b23; --link: #4493f8; }
body { color: var(--fg); background: var(--bg); }
.box { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
hr { height: 4px; margin: 24px 0; border: 0; background: var(--line); }
.head { padding: 8px 16px; color: var(--muted); background: var(--pre); border-bottom: 1px solid var(--line); border-radius: 6px 6px 0 0; }
.head b { color: var(--fg); }
.body + .head { border-top: 1px solid var(--line); border-radius: 0; }
.body + .head:last-child { border-bottom: 0; }
.body { padding: 16px; }
.body > :first-child { margin-top: 0; }
.body > :last-child { margin-bottom: 0; }
h2 { font-size: 21px; line-height: 1.25; margin: 24px 0 16px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
h3 { font-size: 17.5px; line-height: 1.25; margin: 24px 0 16px; }
h4 { font-size: 14px; line-height: 1.25; margin: 24px 0 16px; }
p, ul, table, pre, details, blockquote { margin: 0 0 16px; }
ul { padding-left: 28px; }
li { white-space: normal; }
a { color: var(--link); text-decoration: underline; text-underline-offset: 3px; }
code { font: 85% "Liberation Mono", "DejaVu Sans Mono", monospace; background: var(--code); padding: 3px 5px; border-radius: 6px; }
pre { tab-size: 4; background: var(--pre); padding: 16px; border-radius: 6px; overflow: hidden; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; width: max-content; max-width: 100%; overflow: hidden; }
th, td { border: 1px solid var(--line); padding: 6px 13px; }
tr:nth-child(2n) td { background: var(--pre); }
blockquote { color: var(--muted); border-left: 4px solid var(--line); padding: 0 16px; }
blockquote > :last-child { margin-bottom: 0; }
summary { cursor: pointer; }
`
