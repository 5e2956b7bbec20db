// Package risulore reads and writes lorebook rows as Risu spells them, in a file of their
// own or in a module.
//
// It is a pure codec beside content/risuscript: it opens no file.
package risulore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card/book"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// Format is the format of a file of such rows alone.
const Format = "risu-lorebook"

// Fresh is the document of a file without rows.
const Fresh = `{"type":"risu","ver":1,"data":[]}`

// Alone is the document of a file of these rows.
func Alone(list *canon.Node) *canon.Node {
	doc := twin.Parsed(Fresh)
	twin.Set(doc, "/data", list)
	return doc
}

const freshRow = `{"key":"","comment":"","content":"","mode":"normal","insertorder":100,"alwaysActive":false,"secondkey":"","selective":false}`

// rowFields are an entry. folder is not among them: it is a row of its own.
var rowFields = slices.Concat([]twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/title", Ptr: "/comment", Codec: twin.Text, Required: true},
	twin.Lost("/note", twin.Text, "an entry of Risu has one text for people, its title"),
}, book.Decorated("content"), []twin.Field{
	{Path: "/activation", Over: &always},
	{Path: "/keys", Over: &rowKeys},
	{Path: "/secondary", Over: &rowSecond},
	{Path: "/logic", Over: &rowLogic},
	{Path: "/matching/caseSensitive", Ptr: "/extentions/risu_case_sensitive", Codec: twin.Bool},
	twin.Lost("/matching/wholeWords", twin.Bool, "Risu has one such setting for a whole book"),
	{Path: "/sortOrder", Ptr: "/insertorder", Codec: sortOrder, Required: true},
	twin.Lost("/priority", twin.Int, "Risu drops entries by their order"),
	twin.Lost("/displayIndex", twin.Int, "Risu shows entries in the order of the list"),
	{Path: "/probability", Ptr: "/activationPercent", Codec: twin.Int},
	twin.Lost("/timing/sticky", twin.Int, "Risu does not keep an entry for some messages"),
	twin.Lost("/timing/cooldown", twin.Int, "Risu has no cooldown"),
	twin.Lost("/recursion", twin.Text, "Risu has one such setting for a whole book"),
	twin.Lost("/group", twin.Text, "Risu has no groups of which one enters"),
	twin.Lost("/filter", twin.Text, "Risu has no filter by character"),
	twin.Lost("/sources", twin.TextList, "Risu scans the chat alone"),
	twin.Lost("/triggers", twin.TextList, "Risu does not tell kinds of generation apart"),
	twin.Lost("/ignoreBudget", twin.Flag, "Risu counts every entry"),
	twin.Lost("/locked", twin.Flag, "Risu has no locks"),
	twin.Lost("/automationId", twin.Text, "Risu has no automation"),
	twin.Lost("/tags", twin.TextList, "an entry of Risu has no tags"),
})

var sortOrder = func() twin.Codec {
	c := twin.Int
	c.Empty = "100"
	return c
}()

// always is a switch; a mode can say the same.
var always = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(doc.Field("alwaysActive"))
		if v != nil || doc.Field("mode").Text() == "constant" {
			return canon.NewText("constant"), problem
		}
		return nil, problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		on := val.Text() == "constant"
		twin.Set(doc, "/alwaysActive", twin.Bool.Write(canon.NewBool(on), doc.Field("alwaysActive")))
		if doc.Field("mode").Text() == "constant" && !on {
			twin.Set(doc, "/mode", canon.NewText("normal"))
		}
		if val.Text() == "vector" {
			return []twin.Loss{{Value: "vector", Verdict: twin.Dropped, Reason: "Risu finds entries by their keys"}}
		}
		return nil
	},
}

// Keys are words with commas between them; a pattern is the whole text.
func readWords(text string, pattern bool) *canon.Node {
	words := strings.Split(text, ",")
	if pattern {
		words = []string{text}
	}
	var list []*canon.Node
	for _, w := range words {
		if w = strings.TrimSpace(w); w == "" {
			continue
		}
		k, key := content.LoreKey{Text: w}, canon.NewObject()
		if pattern {
			k = content.ReadKey(w)
		}
		twin.Set(key, "/text", canon.NewText(k.Text))
		if k.Regex {
			twin.Set(key, "/regex", canon.NewBool(true))
		}
		if k.Flags != "" {
			twin.Set(key, "/flags", canon.NewText(k.Flags))
		}
		list = append(list, key)
	}
	if list == nil {
		return nil
	}
	return canon.NewArray(list...)
}

// writeWords gives the text, and whether it is a pattern. What is read of that may be
// less than was wanted.
func writeWords(val *canon.Node, patterns bool) (text string, pattern bool, losses []twin.Loss) {
	var words []string
	for _, it := range val.Items() {
		k := content.LoreKey{Text: it.Field("text").Text(), Regex: it.Field("regex").Raw() == "true", Flags: it.Field("flags").Text()}
		if k.Regex && val.Len() == 1 && patterns && k.Text != "" {
			text, pattern = k.Spelled(), true
			break
		}
		if !k.Regex && k.Text != "" {
			words = append(words, k.Text)
		}
	}
	if !pattern {
		text = strings.Join(words, ", ")
	}
	if back := readWords(text, pattern); val != nil && !canon.Equal(back, val) {
		losses = []twin.Loss{{
			Value: twin.Clip(val), Verdict: twin.Approximated,
			Reason: "Risu takes one pattern, or words with commas between them; a key has no probability there. They become " + strconv.Quote(twin.Clip(canon.NewText(text))),
		}}
	}
	return text, pattern, losses
}

var rowKeys = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(doc.Field("key"))
		return readWords(text.Text(), doc.Field("useRegex").Raw() == "true"), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		text, pattern, losses := writeWords(val, true)
		twin.Set(doc, "/key", canon.NewText(text))
		if (doc.Field("useRegex").Raw() == "true") != pattern {
			twin.Set(doc, "/useRegex", canon.NewBool(pattern))
		}
		return losses
	},
}

var rowSecond = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(doc.Field("secondkey"))
		return readWords(text.Text(), false), problem
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		text, _, losses := writeWords(val, false)
		twin.Set(doc, "/secondkey", canon.NewText(text))
		return losses
	},
}

var rowLogic = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		v, problem := twin.Flag.Read(doc.Field("selective"))
		if v == nil {
			return nil, problem
		}
		return canon.NewText("and_any"), ""
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		twin.Set(doc, "/selective", twin.Bool.Write(canon.NewBool(val != nil), doc.Field("selective")))
		if val == nil || val.Text() == "and_any" {
			return nil
		}
		return []twin.Loss{{Value: val.Text(), Verdict: twin.Approximated, Reason: "Risu wants one of the second keys; that is written"}}
	},
}

// A folder is a row of its own, whose key its entries name.
const folderMark = "\uf000folder:"

func folderID(key string) string {
	return strings.TrimPrefix(strings.TrimPrefix(key, "\uf000"), "folder:")
}

// A row is one of the list, as it stands and as it is read.
type row struct {
	raw, val *canon.Node // val is nil where it is no object
	folder   bool
	id       string
}

func rowsOf(list *canon.Node) (rows []row, problems []string) {
	taken := map[string]bool{}
	folders := map[string]bool{}
	for i, raw := range list.Items() {
		r := row{raw: raw}
		switch {
		case raw.Kind() != canon.Object || i >= twin.MaxItems:
			problems = append(problems, fmt.Sprintf("row %d is no entry that can be read; it stays in the original file and is not used", i))
		case raw.Field("mode").Text() == "folder":
			r.folder, r.id = true, folderID(raw.Field("key").Text())
			if r.id == "" || folders[r.id] {
				r.folder = false
				problems = append(problems, fmt.Sprintf("row %d is a folder without a key of its own; it stays in the original file and is not used", i))
				break
			}
			folders[r.id] = true
			r.val = canon.NewObject()
			twin.Set(r.val, "/id", canon.NewText(r.id))
			if name := raw.Field("comment").Text(); name != "" {
				twin.Set(r.val, "/name", canon.NewText(name))
			}
		default:
			val, more := twin.Read(raw, rowFields)
			for _, p := range more {
				problems = append(problems, fmt.Sprintf("row %d %s", i, p))
			}
			r.val, r.id = val, val.Field("id").Text()
			for n := i + 1; r.id == "" || taken[r.id]; n++ {
				r.id = "entry-" + strconv.Itoa(n)
			}
			taken[r.id] = true
			twin.Set(val, "/id", canon.NewText(r.id))
			if raw.Field("mode").Text() == "child" {
				problems = append(problems, fmt.Sprintf("row %d is only active with its parent; that stays in the original file, and no field here says it", i))
			}
		}
		rows = append(rows, r)
	}
	for _, r := range rows {
		if id := folderID(r.raw.Field("folder").Text()); r.val != nil && !r.folder && folders[id] {
			twin.Set(r.val, "/folder", canon.NewText(id))
		}
	}
	return rows, problems
}

// Read gives the folders and the entries of a list of rows, as those of a lorebook's body.
func Read(list *canon.Node) (body *canon.Node, problems []string) {
	rows, problems := rowsOf(list)
	body = canon.NewObject()
	var folders, entries []*canon.Node
	for _, r := range rows {
		switch {
		case r.val == nil:
		case r.folder:
			folders = append(folders, r.val)
		default:
			entries = append(entries, r.val)
		}
	}
	if folders != nil {
		twin.Set(body, "/folders", canon.NewArray(folders...))
	}
	if entries != nil {
		twin.Set(body, "/entries", canon.NewArray(entries...))
	}
	if len(problems) > 5 {
		problems = append(problems[:5:5], fmt.Sprintf("and %d more", len(problems)-5))
	}
	return body, problems
}

// Lay lays the folders and the entries of a body over a list of rows.
func Lay(body, list *canon.Node) (put *canon.Node, losses []twin.Loss) {
	was, _ := rowsOf(list)
	rows, losses := laid(body, was)
	return twin.Refill(list, rows), losses
}

// laid is the new list. Rows that stay keep their place while nobody has moved them.
func laid(body *canon.Node, was []row) (list []*canon.Node, losses []twin.Loss) {
	raws := rawsOf(was)
	keys := map[string]string{} // of folders, as their entries name them
	made := map[string]*canon.Node{}
	var folders, entries []string
	for i, f := range body.Field("folders").Items() {
		id := f.Field("id").Text()
		raw := raws["f"+id].Clone()
		if raw == nil {
			raw = twin.Parsed(`{"key":"","comment":"","content":"","mode":"folder","insertorder":100,"alwaysActive":false,"secondkey":"","selective":false}`)
			twin.Set(raw, "/key", canon.NewText(folderMark+id))
		}
		if name := f.Field("name").Text(); raw.Field("comment").Text() != name {
			twin.Set(raw, "/comment", canon.NewText(name))
		}
		for _, key := range []string{"parent", "enabled", "order"} {
			if v := f.Field(key); v != nil {
				losses = append(losses, twin.Loss{Path: fmt.Sprintf("/folders/%d/%s", i, key), Value: twin.Clip(v), Verdict: twin.Dropped, Reason: "a folder of Risu has a name alone"})
			}
		}
		keys[id] = raw.Field("key").Text()
		folders, made["f"+id] = append(folders, "f"+id), raw
	}
	for i, e := range body.Field("entries").Items() {
		id := e.Field("id").Text()
		raw := raws["e"+id].Clone()
		fields := rowFields
		if raw == nil {
			raw = twin.Parsed(freshRow)
		} else if raw.Field("id").Text() != id {
			fields = fields[1:] // the id was made up
		}
		for _, l := range twin.Lay(raw, fields, e) {
			l.Path = fmt.Sprintf("/entries/%d%s", i, l.Path)
			losses = append(losses, l)
		}
		if at := e.Field("folder"); at != nil && keys[at.Text()] == "" {
			losses = append(losses, twin.Loss{Path: fmt.Sprintf("/entries/%d/folder", i), Value: twin.Clip(at), Verdict: twin.Dropped, Reason: "the folder is not there"})
		}
		if key := keys[e.Field("folder").Text()]; key == "" && raw.Field("folder") != nil && raws["f"+folderID(raw.Field("folder").Text())] != nil {
			twin.Drop(raw, "/folder")
		} else if key != "" && raw.Field("folder").Text() != key {
			twin.Set(raw, "/folder", canon.NewText(key))
		}
		entries, made["e"+id] = append(entries, "e"+id), raw
	}
	for _, name := range arranged(was, folders, entries) {
		list = append(list, made[name])
	}
	for i, r := range was {
		if r.val == nil { // what could not be read stays where it was: ids that are made up count from there
			list = slices.Insert(list, min(i, len(list)), r.raw)
		}
	}
	return list, losses
}

// rawsOf are the rows that are read, by "f" or "e" and their id.
func rawsOf(rows []row) map[string]*canon.Node {
	raws := map[string]*canon.Node{}
	for _, r := range rows {
		if r.val != nil {
			raws[r.name()] = r.raw
		}
	}
	return raws
}

func (r row) name() string {
	if r.folder {
		return "f" + r.id
	}
	return "e" + r.id
}

// arranged is folders and entries in the order of the file where both still have theirs,
// what is new behind; else folders first.
func arranged(was []row, folders, entries []string) []string {
	wanted, place := map[string]bool{}, map[string]bool{}
	for _, name := range slices.Concat(folders, entries) {
		wanted[name] = true
	}
	var order []string
	for _, r := range was {
		if name := r.name(); r.val != nil && wanted[name] {
			place[name] = true
			order = append(order, name)
		}
	}
	for _, name := range slices.Concat(folders, entries) {
		if !place[name] {
			order = append(order, name)
		}
	}
	only := func(kind byte) []string {
		return slices.DeleteFunc(slices.Clone(order), func(name string) bool { return name[0] != kind })
	}
	if !slices.Equal(only('f'), folders) || !slices.Equal(only('e'), entries) {
		return slices.Concat(folders, entries)
	}
	return order
}
