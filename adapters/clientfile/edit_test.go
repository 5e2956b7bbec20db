package clientfile

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

func client(t testing.TB, name string) Client {
	t.Helper()
	c, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var server = Entry{Name: "soundstage", Command: "/opt/bin/soundstage", Args: []string{"mcp", "/srv/ada/studio"}}

// put is src with the entry, and without it again by position and by structure.
func put(t *testing.T, c Client, src string) (after, undone, removed string) {
	t.Helper()
	n := note{}
	b, _, err := c.put(&n, []byte(src), server)
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.Name, err, src)
	}
	back, ok := without(b, n.Spans)
	if !ok {
		t.Fatalf("%s: the spans %v do not fit", c.Name, n.Spans)
	}
	d, err := c.read(b)
	if err != nil {
		t.Fatal(err)
	}
	edits, err := d.remove(server.Name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), string(back), string(apply(b, edits))
}

func TestInsert(t *testing.T) {
	const entry = `"soundstage": {
      "type": "stdio",
      "command": "/opt/bin/soundstage",
      "args": [
        "mcp",
        "/srv/ada/studio"
      ]
    }`
	flat := `"soundstage":{"type":"stdio","command":"/opt/bin/soundstage","args":["mcp","/srv/ada/studio"]}`
	tab := "\t\t" + strings.NewReplacer("\n        ", "\n\t\t\t\t", "\n      ", "\n\t\t\t", "\n    ", "\n\t\t").Replace(entry)
	for name, c := range map[string]struct{ client, src, want, removed string }{
		"nothing":           {"vscode", "", "{\n  \"servers\": {\n    " + entry + "\n  }\n}\n", "{\n  \"servers\": {}\n}\n"},
		"empty object":      {"vscode", "{}\n", "{\n  \"servers\": {\n    " + entry + "\n  }\n}\n", "{\n  \"servers\": {}\n}\n"},
		"another member":    {"vscode", "{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"servers\": {\n    " + entry + "\n  }\n}", "{\n  \"a\": 1,\n  \"servers\": {}\n}"},
		"empty list":        {"vscode", "{\n  \"servers\": {}\n}", "{\n  \"servers\": {\n    " + entry + "\n  }\n}", "{\n  \"servers\": {}\n}"},
		"another server":    {"vscode", "{\n  \"servers\": {\n    \"x\": {}\n  }\n}", "{\n  \"servers\": {\n    \"x\": {},\n    " + entry + "\n  }\n}", ""},
		"trailing comma":    {"vscode", "{\n  \"servers\": {\n    \"x\": {},\n  },\n}", "{\n  \"servers\": {\n    \"x\": {},\n    " + entry + ",\n  },\n}", ""},
		"comment behind":    {"vscode", "{\n  \"servers\": {\n    \"x\": {} // mine\n  }\n}", "{\n  \"servers\": {\n    \"x\": {}, // mine\n    " + entry + "\n  }\n}", ""},
		"comma, comment":    {"vscode", "{\n  \"servers\": {\n    \"x\": {}, // mine\n    // last\n  }\n}", "{\n  \"servers\": {\n    \"x\": {}, // mine\n    " + entry + ",\n    // last\n  }\n}", ""},
		"comment within":    {"vscode", "{\n  \"servers\": { // none yet\n  }\n}", "{\n  \"servers\": { // none yet\n    " + entry + "\n  }\n}", ""},
		"one line":          {"claude-code", `{"mcpServers":{"x":{}}}`, `{"mcpServers":{"x":{},` + flat + `}}`, ""},
		"one line, none":    {"claude-code", `{"a":1}`, `{"a":1,"mcpServers":{` + flat + `}}`, `{"a":1,"mcpServers":{}}`},
		"tabs":              {"cursor", "{\n\t\"mcpServers\": {\n\t\t\"x\": {}\n\t}\n}", "{\n\t\"mcpServers\": {\n\t\t\"x\": {},\n" + tab + "\n\t}\n}", ""},
		"byte order mark":   {"vscode", "\ufeff{\n  \"servers\": {}\n}", "\ufeff{\n  \"servers\": {\n    " + entry + "\n  }\n}", "\ufeff{\n  \"servers\": {}\n}"},
		"toml":              {"codex", "model = \"x\" # mine\n", "model = \"x\" # mine\n\n[mcp_servers.soundstage]\ncommand = \"/opt/bin/soundstage\"\nargs = [\"mcp\", \"/srv/ada/studio\"]\n", ""},
		"toml, no line end": {"codex", "[a]\nb = 1", "[a]\nb = 1\n\n[mcp_servers.soundstage]\ncommand = \"/opt/bin/soundstage\"\nargs = [\"mcp\", \"/srv/ada/studio\"]\n", "[a]\nb = 1\n"},
		"toml, none":        {"codex", "", "[mcp_servers.soundstage]\ncommand = \"/opt/bin/soundstage\"\nargs = [\"mcp\", \"/srv/ada/studio\"]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			after, undone, removed := put(t, client(t, c.client), c.src)
			if after != c.want {
				t.Errorf("got\n%s\nwant\n%s", after, c.want)
			}
			if undone != c.src {
				t.Errorf("undone\n%q\nwant\n%q", undone, c.src)
			}
			if c.removed == "" {
				c.removed = c.src
			}
			if removed != c.removed {
				t.Errorf("removed\n%q\nwant\n%q", removed, c.removed)
			}
		})
	}
}

// Lines that end as on Windows do so afterwards.
func TestLineEnds(t *testing.T) {
	for name, src := range map[string]string{"vscode": "{\r\n  \"servers\": {\r\n    \"x\": {} // y\r\n  }\r\n}\r\n", "codex": "a = 1\r\n"} {
		after, undone, removed := put(t, client(t, name), src)
		if strings.Count(after, "\n") != strings.Count(after, "\r\n") || undone != src || removed != src {
			t.Errorf("%s: %q, undone %q, removed %q", name, after, undone, removed)
		}
	}
}

func TestReplaceKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"vscode": {
			"{ // a\n  \"servers\": {\n    \"soundstage\": {\"command\": \"soundstage\", \"args\": [\"mcp\"]}, // b\n    \"x\": {},\n  },\n}",
			"{ // a\n  \"servers\": {\n    \"soundstage\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/bin/soundstage\",\n      \"args\": [\n        \"mcp\",\n        \"/srv/ada/studio\"\n      ]\n    }, // b\n    \"x\": {},\n  },\n}",
		},
		"codex": {
			"[mcp_servers.soundstage]\ncommand = 'soundstage'\nargs = [\n 'mcp', # first\n]\n\n# about x\n[x]\n",
			"[mcp_servers.soundstage]\ncommand = \"/opt/bin/soundstage\"\nargs = [\"mcp\", \"/srv/ada/studio\"]\n\n# about x\n[x]\n",
		},
	} {
		n := note{}
		got, state, err := client(t, name).put(&n, []byte(c.src), server)
		if err != nil || state != Replaced || n.Spans != nil || string(got) != c.want {
			t.Errorf("%s: %v %v\n%s", name, state, err, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		client, src string
		code        fault.Code
		want        string
	}{
		"comma missing":   {"vscode", "{\n  \"a\": 1\n  \"b\": 2\n}", CodeMalformed, "line 3, column 3"},
		"cut":             {"vscode", "{\n", CodeMalformed, "line 2, column 1"},
		"not an object":   {"vscode", "[]", CodeMalformed, "line 1, column 1"},
		"servers a list":  {"vscode", "{\n \"servers\": []}", CodeMalformed, "line 2, column 13"},
		"twice":           {"vscode", "{\"servers\": {},\n\"servers\": {}}", CodeMalformed, "line 2, column 1"},
		"comment":         {"claude-code", "{\n  // no\n}", CodeMalformed, "line 2, column 3"},
		"trailing comma":  {"cline", "{\"a\": 1,}", CodeMalformed, "line 1, column 9"},
		"deep":            {"vscode", strings.Repeat("[", maxDepth+1), CodeMalformed, "column 501"},
		"another's":       {"vscode", `{"servers": {"soundstage": {"url": "http://x"}}}`, CodeForeign, "name \"soundstage\""},
		"another program": {"vscode", `{"servers": {"soundstage": {"command": "npx", "args": ["mcp"]}}}`, CodeForeign, "npx"},
		"toml":            {"codex", "a = 1\nb = = 2\n", CodeMalformed, "line 2, column 5"},
		"toml inline":     {"codex", "mcp_servers = {x = {command = \"y\"}}\n", CodeMalformed, "unusual"},
		"toml dotted":     {"codex", "[mcp_servers]\nsoundstage = {command = \"soundstage\", args = [\"mcp\"]}\n", CodeMalformed, "one table"},
		"toml deep":       {"codex", "a = " + strings.Repeat("[", maxDepth+1), CodeMalformed, "column 505"},
		"toml large":      {"codex", strings.Repeat("#\n", maxTOML), fault.TooLarge, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := client(t, c.client).put(&note{}, []byte(c.src), server)
			if fault.CodeOf(err) != c.code || !strings.Contains(err.Error()+fault.HintOf(err), c.want) || fault.HintOf(err) == "" {
				t.Errorf("%v (%s)", err, fault.HintOf(err))
			}
		})
	}
}

// Whatever a file says: the entry goes in and out, and nothing else changes.
func fuzz(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := client(t, name)
		n := note{}
		after, state, err := c.put(&n, src, server)
		if err != nil || state != Added {
			return
		}
		if back, ok := without(after, n.Spans); !ok || string(back) != string(src) {
			t.Fatalf("%q became %q, and back %q", src, after, back)
		}
		if again, state, err := c.put(&note{}, after, server); err != nil || state != Unchanged || string(again) != string(after) {
			t.Fatalf("%q: again: %v %v %q", src, state, err, again)
		}
		d, err := c.read(after)
		if err != nil {
			t.Fatal(err)
		}
		edits, err := d.remove(server.Name)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, after, err)
		}
		gone := apply(after, edits)
		if err := c.compare(d, gone, server.Name, nil); err != nil {
			t.Fatalf("%q became %q, and without %q: %v", src, after, gone, err)
		}
		was, err := c.read(src)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := was.(*jsonFile); ok && j.servers != nil && len(j.servers.Members) > 0 && string(gone) != string(src) {
			t.Fatalf("%q became %q, and without %q", src, after, gone)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, "claude-code", `{"mcpServers":{"a":{}}}`, "{\n  \"a\": [1, 2.50],\n  \"mcpServers\": {\n  }\n}\n", "", "{}", `{ "a" : 1 }`)
}

func FuzzJSONC(f *testing.F) {
	fuzz(f, "zed", "// a\n{\n  \"context_servers\": { // b\n    \"x\": {}, /* c */ // d\n  },\n}\n// e", "{/*a*/}", "{\"context_servers\":{\"a\":{}//\n}}",
		"\ufeff{\r\n\t\"context_servers\": {\r\n\t\t\"a\": 1\r\n\t\t,\r\n\t}\r\n}", "{\"a\":1/*\n*/}")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, "codex", "a = 1\n[mcp_servers.x]\ncommand = \"y\"\n", "[mcp_servers]\n", "x = '''\n[mcp_servers.soundstage]\n'''", "[[a]]\r\nb = nan\r\n", "# no line end")
}
