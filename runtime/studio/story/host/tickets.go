package host

import (
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

var ticketKinds = []struct{ kind, dir string }{{"bug", "bugs"}, {"feature", "features"}, {"epic", "epics"}}

// ticket answers for a tracker that is a folder of Markdown files.
func (d *Desk) ticket(args value.Value) engine.Result {
	root := text(args, "root")
	if root == "" {
		root = d.Work
	}
	op, id := text(args, "op"), text(args, "id")
	if op == "search" || op == "list_mine" {
		return d.tickets(root, op, args)
	}
	if op != "get" && op != "comment" && op != "transition" {
		return failed("host.local_files.ticket: the operation is %q, and not search, get, comment, transition or list_mine", op)
	}
	name, kind, found := d.findTicket(root, id)
	if !found {
		return failed("ticket.%s: %s not found", op, id)
	}
	was, _ := d.Folder.Read(name)
	switch op {
	case "get":
		return engine.Result{Data: ticketOf(name, kind, was).With("body", value.Of(was))}
	case "comment":
		return d.comment("ticket.comment", name, was, args, text(args, "body"))
	}
	to := text(args, "to")
	if to == "" {
		to = text(args, "status")
	}
	head, body := front(was)
	lines := strings.Split(head, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if !strings.HasPrefix(l, "status:") && l != "" {
			kept = append(kept, l)
		}
	}
	now := "---\n" + strings.Join(append(kept, "status: "+to), "\n") + "\n---\n" + body
	if err := d.Folder.Write(name, now); err != nil {
		return failed("ticket.transition: %s", err)
	}
	return engine.Result{Data: value.NewMap(fields{"ok": value.Of(true), "id": value.Of(id), "status": value.Of(to)})}
}

func (d *Desk) findTicket(root, id string) (name, kind string, ok bool) {
	for _, k := range ticketKinds {
		name = path.Join(root, "issues", k.dir, id+".md")
		if _, ok = d.Folder.Read(name); ok && id != "" {
			return name, k.kind, true
		}
	}
	return "", "", false
}

func (d *Desk) tickets(root, op string, args value.Value) engine.Result {
	query, mine := strings.ToLower(text(args, "query")), text(args, "assignee")
	var list []value.Value
	for _, k := range ticketKinds {
		for _, name := range d.Folder.Below(path.Join(root, "issues", k.dir)) {
			raw, _ := d.Folder.Read(name)
			t := ticketOf(name, k.kind, raw)
			who, _ := t.Get("assignee")
			if op == "search" && !strings.Contains(strings.ToLower(raw), query) || op == "list_mine" && mine != "" && who.Text() != mine {
				continue
			}
			list = append(list, t)
		}
	}
	return engine.Result{Data: value.NewMap(fields{"ok": value.Of(true), "tickets": value.NewList(list...)})}
}

// front is what stands between the marks at a file's head, and the rest.
func front(raw string) (head, body string) {
	rest, ok := strings.CutPrefix(raw, "---\n")
	if !ok {
		return "", raw
	}
	head, body, ok = strings.Cut(rest, "\n---\n")
	if !ok {
		return "", raw
	}
	return head, body
}

func ticketOf(name, kind, raw string) value.Value {
	head, _ := front(raw)
	var r source.Reader
	t := value.NewMap(fields{"id": value.Of(stem(name)), "type": value.Of(kind), "path": value.Of(name)})
	if n := r.Parse(name, []byte(head)); n != nil && len(r.Problems()) == 0 {
		t = n.Value().Merge(t)
	}
	return t
}
