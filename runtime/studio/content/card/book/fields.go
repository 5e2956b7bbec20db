package book

import (
	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	oursOnly = "the specification has no place for it; it is kept under extensions.soundstage, which other programs ignore"
	risuOnly = "the specification has no place for it; it is kept in an extension that Risu reads"
)

// fields is a book.
var fields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text},
	{Path: "/description", Ptr: "/description", Codec: twin.Text},
	ours("/tags", twin.TextList),
	{Path: "/settings/scanDepth", Ptr: "/scan_depth", Codec: twin.Int},
	{Path: "/settings/tokenBudget", Ptr: "/token_budget", Codec: twin.Int},
	{Path: "/settings/recursive", Ptr: "/recursive_scanning", Codec: twin.Bool},
	ours("/settings/maxRecursion", twin.Int),
	ours("/settings/caseSensitive", twin.Bool),
	{Path: "/settings/wholeWords", Ptr: "/extensions/risu_fullWordMatching", Codec: twin.Bool, Foreign: risuOnly},
	ours("/folders", twin.Objects([]twin.Field{
		{Path: "/id", Ptr: "/id", Codec: twin.Text},
		{Path: "/name", Ptr: "/name", Codec: twin.Text},
		{Path: "/parent", Ptr: "/parent", Codec: twin.Text},
		{Path: "/enabled", Ptr: "/enabled", Codec: twin.Bool},
		{Path: "/order", Ptr: "/order", Codec: twin.Int},
	}, "/id", "folder-", `{"id":""}`)),
	{Path: "/entries", Ptr: "/entries", Required: true, Codec: lore.Numbered(twin.Objects(entryFields, "/id", "entry-", freshEntry), nextEntry, "entries of a book are numbered")},
}

// ours is a value that only we keep, at the same path below our own extension.
func ours(path string, c twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: "/extensions/soundstage" + path, Codec: c, Foreign: oursOnly}
}

// ext is a value in an extension of SillyTavern, which most programs read.
func ext(path, key string, c twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: "/extensions/" + key, Codec: c}
}

// freshEntry has what version 2 demands, and the names that programs show.
const freshEntry = `{"id":0,"keys":[],"content":"","extensions":{},"enabled":true,"insertion_order":100,"name":"","comment":""}`

var entryFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: lore.NumberID},
	{Path: "/title", Over: &title},
	{Path: "/note", Over: &note},
	{Path: "/content", Over: &text},
	{Path: "/enabled", Over: &enabled},
	{Path: "/activation", Over: &activation},
	{Path: "/keys", Over: &keys},
	{Path: "/secondary", Over: &secondary},
	{Path: "/logic", Over: &logic},
	either("/matching/caseSensitive", twin.Bool, "/extensions/case_sensitive", "/case_sensitive", "/extensions/risu_case_sensitive"),
	ext("/matching/wholeWords", "match_whole_words", twin.Bool),
	{Path: "/matching/scanDepth", Over: decorated(claimScan, "/extensions/scan_depth")},
	{Path: "/placement", Over: &placement},
	{Path: "/sortOrder", Ptr: "/insertion_order", Codec: order, Required: true},
	{Path: "/priority", Ptr: "/priority", Codec: twin.Int},
	ext("/displayIndex", "display_index", twin.Int),
	{Path: "/probability", Over: &probability},
	ext("/timing/sticky", "sticky", twin.Int),
	ext("/timing/cooldown", "cooldown", twin.Int),
	{Path: "/timing/delay", Over: decorated(claimDelay, "/extensions/delay")},
	ext("/recursion/exclude", "exclude_recursion", twin.Flag),
	ext("/recursion/prevent", "prevent_recursion", twin.Flag),
	ext("/recursion/delayUntil", "delay_until_recursion", lore.Level),
	ext("/group/name", "group", twin.Text),
	ext("/group/override", "group_override", twin.Flag),
	ext("/group/weight", "group_weight", twin.Int),
	ext("/group/scoring", "use_group_scoring", twin.Bool),
	ours("/filter", twin.Object([]twin.Field{
		{Path: "/exclude", Ptr: "/exclude", Codec: twin.Flag}, {Path: "/names", Ptr: "/names", Codec: twin.TextList}, {Path: "/tags", Ptr: "/tags", Codec: twin.TextList},
	}, `{}`)),
	{Path: "/sources", Over: &sources},
	ext("/triggers", "triggers", twin.TextList),
	ext("/ignoreBudget", "ignore_budget", twin.Flag),
	ours("/locked", twin.Flag),
	ours("/folder", twin.Text),
	ext("/automationId", "automation_id", twin.Text),
	ours("/tags", twin.TextList),
}

var order = withEmpty(twin.Int, "100")

func withEmpty(c twin.Codec, json string) twin.Codec {
	c.Empty = json
	return c
}

// either is a value that programs spell at several places: the first that says
// something counts. A new value goes to the first two, and to all that are there.
func either(path string, c twin.Codec, ptrs ...string) twin.Field {
	read := func(doc *canon.Node) (*canon.Node, string) {
		for _, p := range ptrs {
			if v, problem := c.Read(doc.At(p)); v != nil || problem != "" {
				return v, problem
			}
		}
		return nil, ""
	}
	return twin.Field{Path: path, Over: &twin.Over{
		Read: read,
		Write: func(doc, val *canon.Node) []twin.Loss {
			for i, p := range ptrs {
				switch old := doc.At(p); {
				case val == nil && old.Kind() != canon.Null:
					twin.Drop(doc, p)
				case val != nil && (i < 2 || old != nil):
					set(doc, p, c.Write(val, old))
				}
			}
			return nil
		},
	}}
}

// nextEntry is behind the length too: programs take an entry without an id for that of
// its place in the list.
func nextEntry(old *canon.Node) int { return max(lore.After(old, "id"), old.Len()) }
