package seam

import (
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Preset is a named, versioned list of what matching does not look at. Its
// meaning never changes: another meaning is another version.
type Preset struct {
	Name  string
	Doc   string
	Drop  []string // pointers of members that are left out; * is any index
	Alias []string // pointers of strings that are replaced by call 1, call 2, … in order of first appearance
	Rules []Rule   // those that need a reason each
}

// presets are all there are. Positions are exact, provider by provider: a text
// that happens to look like an id is not one.
var presets = append([]Preset{
	{
		Name: "call-ids/1",
		Doc:  "ids of tool calls and of input items count by order of appearance, not by spelling",
		Alias: []string{
			"/messages/*/content/*/id", "/messages/*/content/*/tool_use_id", // Anthropic
			"/messages/*/tool_calls/*/id", "/messages/*/tool_call_id", // Chat Completions
			"/input/*/call_id", "/input/*/id", // Responses
			"/contents/*/parts/*/functionCall/id", "/contents/*/parts/*/functionResponse/id", // Gemini
		},
	},
	{
		Name: "session-noise/1",
		Doc:  "fields that name a session, a device or a cache, and change from run to run",
		Drop: []string{"/metadata/user_id", "/prompt_cache_key", "/safety_identifier", "/user", "/client_metadata"},
	},
	{
		Name: "mcp-noise/1",
		Doc:  "of MCP messages: the token that progress is told by and the ids of traces are new in every run, and a client's version changes with each release",
		Drop: []string{
			"/_meta/progressToken", "/_meta/traceparent", "/_meta/tracestate", "/_meta/baggage",
			"/clientInfo/version", "/_meta/io.modelcontextprotocol~1clientInfo/version",
		},
	},
}, clientPresets...)

// Presets are the presets that exist, for reference and help.
func Presets() []Preset { return slices.Clone(presets) }

// DefaultRules are the presets that a recording lists unless it says otherwise.
func DefaultRules() []string { return []string{"call-ids/1", "session-noise/1"} }

// MCPRules are those of a recording in which MCP servers take part.
func MCPRules() []string { return append(DefaultRules(), "mcp-noise/1") }

// rules is compiled presets: a tree of names, with * for the elements of an array.
type rules struct {
	root *ruleNode
}

type ruleNode struct {
	children    map[string]*ruleNode // by quoted name
	star        *ruleNode
	drop, alias bool
	unwrap      bool
	masks       []mask
}

func compile(names []string) (*rules, error) {
	r := &rules{}
	for _, name := range names {
		i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
		if i < 0 {
			var known []string
			for _, p := range presets {
				known = append(known, p.Name)
			}
			return nil, fault.New(CodeRule, "seam.rules", "there is no preset %q", name).WithHint("use of: %s", strings.Join(known, ", "))
		}
		for _, pointer := range presets[i].Drop {
			r.node(pointer).drop = true
		}
		for _, pointer := range presets[i].Alias {
			r.node(pointer).alias = true
		}
		for _, rule := range presets[i].Rules {
			r.add(rule)
		}
	}
	return r, nil
}

// node is the node of a pointer, made if need be.
func (r *rules) node(pointer string) *ruleNode {
	if r.root == nil {
		r.root = &ruleNode{}
	}
	n := r.root
	for part := range strings.SplitSeq(pointer[1:], "/") {
		next := n.star
		if part != "*" {
			part = strconv.Quote(strings.ReplaceAll(part, "~1", "/"))
			next = n.children[part]
		}
		if next == nil {
			next = &ruleNode{}
			switch {
			case part == "*":
				n.star = next
			case n.children == nil:
				n.children = map[string]*ruleNode{part: next}
			default:
				n.children[part] = next
			}
		}
		n = next
	}
	return n
}

// apply appends a canonical text to dst, rewritten under the rules. It does not
// change b.
func (r *rules) apply(dst, b []byte) []byte {
	a := applier{src: b, out: slices.Grow(dst, len(b)+64)}
	if r.root == nil || a.value(0, r.root) < 0 {
		return append(dst, b...)
	}
	return a.out
}

// An applier copies a canonical text, member by member where a rule may apply, and
// whole elsewhere.
type applier struct {
	src, out []byte
	seen     map[string]int // id to its number
}

// value copies the value at src[at] and gives its end, or -1.
func (a *applier) value(at int, n *ruleNode) int {
	switch {
	case n != nil && n.alias && a.src[at] == '"':
		end := skipString(a.src, at)
		if end > 0 {
			a.alias(string(a.src[at:end]))
		}
		return end
	case n != nil && n.masks != nil && a.src[at] == '"':
		return a.text(at, n.masks)
	case n != nil && n.unwrap && a.src[at] == '[' && a.onlyText(at, n.star):
		return a.inner(at, n.star)
	case n != nil && n.children != nil && a.src[at] == '{':
		return a.object(at, n)
	case n != nil && n.star != nil && a.src[at] == '[':
		return a.array(at, n)
	}
	end := skipValue(a.src, at)
	if end > 0 {
		a.out = append(a.out, a.src[at:end]...)
	}
	return end
}

func (a *applier) alias(id string) {
	n, ok := a.seen[id]
	if !ok {
		if a.seen == nil {
			a.seen = map[string]int{}
		}
		n = len(a.seen) + 1
		a.seen[id] = n
	}
	a.out = strconv.AppendInt(append(a.out, `"{{call:`...), int64(n), 10)
	a.out = append(a.out, `}}"`...)
}

func (a *applier) object(at int, n *ruleNode) int {
	a.out = append(a.out, '{')
	first := true
	for at++; a.src[at] != '}'; {
		nameEnd := skipString(a.src, at)
		if nameEnd < 0 {
			return -1
		}
		name := a.src[at:nameEnd]
		child := n.children[string(name)]
		if child != nil && child.drop {
			at = skipValue(a.src, nameEnd+1)
		} else {
			if !first {
				a.out = append(a.out, ',')
			}
			first = false
			a.out = append(append(a.out, name...), ':')
			at = a.value(nameEnd+1, child)
		}
		if at < 0 {
			return -1
		}
		if a.src[at] == ',' {
			at++
		}
	}
	a.out = append(a.out, '}')
	return at + 1
}

func (a *applier) array(at int, n *ruleNode) int {
	a.out = append(a.out, '[')
	for at++; a.src[at] != ']'; {
		if at = a.value(at, n.star); at < 0 {
			return -1
		}
		if a.src[at] == ',' {
			a.out = append(a.out, ',')
			at++
		}
	}
	a.out = append(a.out, ']')
	return at + 1
}
