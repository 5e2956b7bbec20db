package host

import (
	"fmt"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// A Folder is where the handlers of a Desk leave files.
type Folder interface {
	Read(name string) (text string, ok bool)
	Write(name, text string) error
	// Below are the names of the files in a folder, sorted.
	Below(dir string) []string
}

// A Desk is the handlers that only read and write files.
type Desk struct {
	Folder    Folder
	Work      string // the folder of the run, as the story sees it: where trackers lie
	Artifacts string // the folder that artifacts go to, unless a call names one
}

type fields = map[string]value.Value

func failed(format string, args ...any) engine.Result {
	return engine.Result{Error: fmt.Sprintf(format, args...)}
}

func text(args value.Value, name string) string {
	v, _ := args.Get(name)
	return strings.TrimSpace(v.Text())
}

// Call answers a call of one of these handlers; ok says that it is one.
func (d *Desk) Call(c engine.Request) (engine.Result, bool) {
	for name, answer := range map[string]func(value.Value) engine.Result{
		"host.artifacts_dir": d.artifact, "host.append_to_file": d.add, "host.local_files.ticket": d.ticket,
	} {
		if c.Handler == name {
			return answer(c.Args), true
		}
		if whole, op := Whole(c.Handler); whole == name {
			return answer(WithOp(c, op).Args), true
		}
	}
	return engine.Result{}, false
}

// artifact writes a text under a name, behind what is there or instead of it; or notes
// that a file made elsewhere is one.
func (d *Desk) artifact(args value.Value) engine.Result {
	const op = "host.artifacts_dir"
	thread, body := text(args, "thread"), text(args, "body")
	if thread == "" {
		return failed("%s: thread argument is required", op)
	}
	root := text(args, "artifacts_root")
	if root == "" {
		root = d.Artifacts
	}
	if src := text(args, "src_path"); src != "" {
		return d.media(args, path.Join(root, thread), src)
	}
	if body == "" {
		return failed("%s: body argument is required", op)
	}
	name := thread
	if path.Ext(name) == "" && !strings.ContainsAny(name, `/\`) {
		name += ".md"
	}
	if !path.IsAbs(name) {
		name = path.Join(root, name)
	}
	page := entry(text(args, "title"), body, text(args, "phase_id"))
	number := 1
	if was, _ := d.Folder.Read(name); was != "" && strings.ToLower(text(args, "mode")) != "replace" {
		number = strings.Count(was, "\n---\n") + 2
		page = was + "\n\n---\n\n" + page
	}
	if err := d.Folder.Write(name, page); err != nil {
		return failed("%s: %s", op, err)
	}
	return engine.Result{Data: value.NewMap(fields{"ok": value.Of(true), "path": value.Of(name), "message_id": value.Of(fmt.Sprintf("%s#%d", stem(name), number))})}
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// entry is a text with its title above and its phase below.
func entry(title, body, phase string) string {
	body = strings.TrimRight(body, "\n") + "\n"
	if title != "" {
		body = "# " + title + "\n\n" + body
	}
	if phase != "" {
		body += "\n_phase: " + phase + "_\n"
	}
	return body
}

// media notes a file that something else made. It has to be one of the folder's own.
func (d *Desk) media(args value.Value, name, src string) engine.Result {
	kind := strings.ToLower(text(args, "kind"))
	switch kind {
	case "video", "image", "pdf", "html", "slideshow":
	default:
		return failed("host.artifacts_dir: the kind is %q, and not video, image, pdf, html or slideshow", kind)
	}
	made, ok := d.Folder.Read(src)
	if !ok {
		return failed("host.artifacts_dir: src_path %q: there is no such file", src)
	}
	if path.Ext(name) != path.Ext(src) {
		name += path.Ext(src)
	}
	if err := d.Folder.Write(name, made); err != nil {
		return failed("host.artifacts_dir: %s", err)
	}
	handle := value.NewMap(fields{"id": value.Of(stem(name)), "kind": value.Of(kind), "mime": value.Of(text(args, "mime")), "label": value.Of(text(args, "label"))})
	return engine.Result{Data: value.NewMap(fields{"ok": value.Of(true), "path": value.Of(name), "handle": handle})}
}

// add adds a comment to a file, which it begins where there is none.
func (d *Desk) add(args value.Value) engine.Result {
	const op = "host.append_to_file"
	thread, body := text(args, "thread"), text(args, "body")
	switch {
	case thread == "":
		return failed("%s: thread argument is required", op)
	case body == "":
		return failed("%s: body argument is required", op)
	}
	was, ok := d.Folder.Read(thread)
	if !ok {
		was = "---\ntitle: " + stem(thread) + "\nstatus: open\n---\n# " + stem(thread) + "\n"
	}
	return d.comment(op, thread, was, args, body)
}

const commentMark = "\n## Comment by "

func (d *Desk) comment(op, name, was string, args value.Value, body string) engine.Result {
	author := text(args, "author")
	if author == "" {
		author = "story"
	}
	was += commentMark + author + "\n\n" + entry(text(args, "title"), body, text(args, "phase_id"))
	if err := d.Folder.Write(name, was); err != nil {
		return failed("%s: %s", op, err)
	}
	id := fmt.Sprintf("%s#%d", strings.TrimSuffix(path.Base(name), ".md"), strings.Count(was, commentMark))
	return engine.Result{Data: value.NewMap(fields{"ok": value.Of(true), "message_id": value.Of(id)})}
}
