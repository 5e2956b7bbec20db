// Package lint looks for what is wrong with recordings: secrets, damage, keys that
// nothing will ask for, age, models that are gone, prompts and tools that are others
// today, size.
//
// It belongs to harness, above cassette, seam, transcript and redact. It reads, and
// changes nothing. What only a program knows (which models are retired, which tools
// there are today, which episodes no scenario asks for) is handed in.
package lint

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/transcript"
)

// A Severity says how bad a finding is.
type Severity string

// The severities. Only an Error makes a tree unclean.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// The codes of findings.
const (
	CodeSecret     = "SECRET"      // something looks like a credential
	CodeDamaged    = "DAMAGED"     // the file does not read
	CodeOldFormat  = "OLD_FORMAT"  // an older x-format: it is not replayed
	CodeOldKeys    = "OLD_KEYS"    // keys of an older version: it is not replayed
	CodeStaleKey   = "STALE_KEY"   // the key is not what the request hashes to today: it is never found
	CodeBlobs      = "BLOBS"       // bodies that stand apart and belong to nothing
	CodeUnused     = "UNUSED"      // no scenario asks for the episode
	CodeUnproven   = "UNPROVEN"    // a scenario that plays it fails, so that UNUSED is not known
	CodeDuplicate  = "DUPLICATE"   // request and answer of an episode before it
	CodeAge        = "AGE"         // recorded too long ago
	CodeRetired    = "RETIRED"     // the model is retired: it cannot be recorded again
	CodePrompt     = "PROMPT"      // the system prompt is another one today
	CodeTool       = "TOOL"        // a tool's description or schema is another one today
	CodeSize       = "SIZE"        // the file is large
	CodeUnreadable = "UNREADABLE"  // a model call whose bodies are not understood
	CodeJournal    = "JOURNAL"     // a recording that did not end lies beside it
	CodeAuthStored = "AUTH_STORED" // an answer to a bad key was stored
)

// A Finding is one thing that is wrong. It never holds a secret.
type Finding struct {
	Code     string   `json:"code" jsonschema:"stable UPPER_SNAKE code"`
	Severity Severity `json:"severity" jsonschema:"error, warning or note"`
	Cassette string   `json:"cassette" jsonschema:"its name"`
	Episode  int      `json:"episode,omitempty" jsonschema:"1 is the first; none: the file"`
	Place    string   `json:"place,omitempty" jsonschema:"where in the episode: request.body /messages/0"`
	Message  string   `json:"message" jsonschema:"what is wrong"`
	Fix      string   `json:"fix" jsonschema:"the next step"`
}

// Options say what is held against a cassette. What is left out is not looked at.
type Options struct {
	Redactor *redact.Redactor // nil: provider keys and credential names only
	Today    time.Time
	MaxAge   time.Duration
	MaxSize  int64                                                   // bytes of the file
	Retired  func(model string, today time.Time) (when, from string) // "" for a model that is not; from: who says so
	Tools    []transcript.Tool                                       // today's
	System   []string                                                // today's prompt, of calls that have one of Tools
	Unused   []int                                                   // episodes that no scenario asks for, counted from 0
}

// Check looks at the cassette in a file, which findings call name.
func Check(name, file string, o Options) []Finding {
	c := checker{name: name, o: o}
	if c.o.Redactor == nil {
		c.o.Redactor = redact.New(redact.Options{})
	}
	k, err := cassette.OpenAny(file)
	if err != nil {
		c.add(CodeDamaged, Error, 0, "", fmt.Sprintf("%s: %v", fault.CodeOf(err), err), fixOf(err))
		return c.found
	}
	c.file(k, file)
	for i := range k.Len() {
		e, err := k.Episode(i)
		if err != nil {
			c.add(CodeDamaged, Error, i+1, "", fmt.Sprintf("%s: %v", fault.CodeOf(err), err), fixOf(err))
			continue
		}
		c.episode(k.Header(), i+1, &e)
	}
	return c.found
}

func fixOf(err error) string {
	if h := fault.HintOf(err); h != "" {
		return h
	}
	return "restore the file from version control"
}

type checker struct {
	name     string
	o        Options
	found    []Finding
	answered map[string]int // key and answer to the episode
	drifted  map[string]bool
}

func (c *checker) add(code string, s Severity, episode int, place, message, fix string) {
	c.found = append(c.found, Finding{Code: code, Severity: s, Cassette: c.name, Episode: episode, Place: place, Message: message, Fix: fix})
}

// run is a command with the cassette's name.
func (c *checker) run(command string) string { return "soundstage cassette " + command + " " + c.name }

// again says how what is old is made new; only a real provider's answer costs.
func (c *checker) again() string { return "record it again: soundstage record " + c.name }

func (c *checker) file(k *cassette.Cassette, path string) {
	c.answered, c.drifted = map[string]int{}, map[string]bool{}
	h := k.Header()
	if h.Format != cassette.Format {
		c.add(CodeOldFormat, Error, 0, "x-format", fmt.Sprintf("format %d is not replayed", h.Format), c.run("migrate"))
	}
	if h.KeyVersion != cassette.KeyVersion {
		c.add(CodeOldKeys, Error, 0, "x-keyv", fmt.Sprintf("keys of version %d are not found", h.KeyVersion), c.run("rekey"))
	}
	if info, err := os.Stat(path); err == nil && c.o.MaxSize > 0 && info.Size() > c.o.MaxSize {
		c.add(CodeSize, Warning, 0, "", fmt.Sprintf("%d bytes are more than %d", info.Size(), c.o.MaxSize), c.run("dedupe"))
	}
	apart := false
	for i := range k.Len() {
		which, err := k.Apart(i)
		apart = apart || err != nil || len(which) > 0
	}
	if blobs := strings.TrimSuffix(path, ".yaml") + ".blobs"; !apart && exists(blobs) {
		c.add(CodeBlobs, Warning, 0, "", fmt.Sprintf("file %q belongs to no episode", blobs), "delete it")
	}
	if exists(path + ".part") {
		c.add(CodeJournal, Warning, 0, "", "a recording that did not end lies beside it", "continue that recording, or delete "+path+".part")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (c *checker) episode(h cassette.Header, n int, e *cassette.Episode) {
	for _, s := range Secrets(c.o.Redactor, e) {
		c.add(CodeSecret, Error, n, strings.TrimSpace(s.Place+" "+s.Pointer), "what looks like a secret: "+s.Rule, c.run("redact")+", and make the secret invalid where it was valid")
	}
	if key, _, err := seam.KeyOf(h.Rules, e.Lane, e.Kind, e.Request); h.KeyVersion == cassette.KeyVersion && (err != nil || key != e.Key) {
		what := "the request hashes to another key today"
		if err != nil {
			what = err.Error()
		}
		c.add(CodeStaleKey, Error, n, "x-key", what+": nothing finds it", c.run("rekey"))
	}
	if slices.Contains(c.o.Unused, n-1) {
		c.add(CodeUnused, Warning, n, "", "no scenario asks for it", c.run("prune"))
	}
	answer := e.Key + string(e.Response.Body)
	if first := c.answered[answer]; first > 0 {
		c.add(CodeDuplicate, Note, n, "", fmt.Sprintf("request and answer of episode %d once more", first), "leave it if the request is meant to be made twice; else "+c.run(fmt.Sprintf("prune --episode %d", n)))
	} else {
		c.answered[answer] = n
	}
	if s := e.Response.Status; (s == 401 || s == 403 || s == 407) && e.Origin != cassette.Scripted {
		c.add(CodeAuthStored, Warning, n, "response", fmt.Sprintf("the provider refused the key (%d), and that is what is replayed", s), c.again())
	}
	c.age(n, e)
	c.drift(n, e)
}

// age goes by answers of the world: what a person wrote does not age.
func (c *checker) age(n int, e *cassette.Episode) {
	at, err := time.Parse(time.DateOnly, e.At)
	if e.Origin != cassette.Scripted && err == nil && c.o.MaxAge > 0 && c.o.Today.Sub(at) > c.o.MaxAge {
		c.add(CodeAge, Warning, n, "x-at", fmt.Sprintf("recorded %s, more than %d days ago", e.At, int(c.o.MaxAge/(24*time.Hour))), c.again())
	}
	if c.o.Retired == nil || e.Model == "" || c.drifted["model "+e.Model] {
		return
	}
	if when, from := c.o.Retired(e.Model, c.o.Today); when != "" {
		c.drifted["model "+e.Model] = true
		severity := Warning
		if e.Origin == cassette.Scripted {
			severity = Note
		}
		c.add(CodeRetired, severity, n, "x-model", fmt.Sprintf("model %q is retired since %s (%s)", e.Model, when, from), "choose a model that there is, then "+c.again())
	}
}

// drift holds a call against today's prompt and tools. Only a call that has one of our
// tools is ours; each prompt and tool is told of once.
func (c *checker) drift(n int, e *cassette.Episode) {
	t := transcript.Read(e)
	if t.Problem != "" && e.Response.End == "" && e.Origin != cassette.Scripted {
		c.add(CodeUnreadable, Note, n, "", t.Problem, "look at it: "+c.run(fmt.Sprintf("show --raw --episode %d", n)))
	}
	ours := false
	for _, was := range t.Tools {
		i := slices.IndexFunc(c.o.Tools, func(now transcript.Tool) bool { return now.Name == was.Name })
		if i < 0 {
			continue
		}
		ours = true
		now := c.o.Tools[i]
		now.Where, now.Extra = was.Where, was.Extra
		for _, ch := range diff.Transcripts(&transcript.Transcript{Tools: []transcript.Tool{was}}, &transcript.Transcript{Tools: []transcript.Tool{now}}) {
			if text := ch.Text(); !c.drifted[text] {
				c.drifted[text] = true
				c.add(CodeTool, Warning, n, "request.body "+was.Where, "today "+text, c.again())
			}
		}
	}
	if !ours || len(c.o.System) == 0 || c.drifted["system"] {
		return
	}
	now := transcript.Transcript{}
	for i, text := range c.o.System {
		p := transcript.Part{Kind: transcript.Text, Text: text}
		if i < len(t.System) {
			p.Where, p.Extra = t.System[i].Where, t.System[i].Extra
		}
		now.System = append(now.System, p)
	}
	was := transcript.Transcript{}
	for _, p := range t.System {
		if p.Kind != transcript.Other { // a mark beside the text, such as where a cache ends
			was.System = append(was.System, p)
		}
	}
	for _, ch := range diff.Transcripts(&was, &now) {
		c.drifted["system"] = true
		c.add(CodePrompt, Warning, n, strings.TrimSpace("request.body "+ch.Where), "today "+ch.Text(), c.again())
	}
}
