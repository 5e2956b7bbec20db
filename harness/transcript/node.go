package transcript

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// compact is the canonical text of n, or its own where that has none.
func compact(n *canon.Node) string {
	if n == nil {
		return ""
	}
	text := n.Bytes()
	if c, err := canon.JSON(text); err == nil {
		text = c
	}
	return string(text)
}

// extra is what n holds beside the members that were read.
func extra(n *canon.Node, read ...string) string {
	rest := n.Clone()
	for name, v := range n.Members() {
		if slices.Contains(read, name) || v.Kind() == canon.Null {
			if _, err := rest.Delete(canon.JoinPointer(name)); err != nil {
				return compact(n)
			}
		}
	}
	if rest.Len() == 0 {
		return ""
	}
	return compact(rest)
}

// settings are the members of a request that have no place in a conversation.
func settings(body *canon.Node, read ...string) []Setting {
	var out []Setting
	for name, v := range body.Members() {
		if !slices.Contains(read, name) {
			out = append(out, Setting{Name: name, Value: compact(v)})
		}
	}
	slices.SortFunc(out, func(a, b Setting) int { return compareText(a.Name, b.Name) })
	return out
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// arguments are canonical where they are JSON, and as written elsewhere.
func arguments(text string) string {
	if c, err := canon.JSON([]byte(text)); err == nil {
		return string(c)
	}
	return text
}

func number(n *canon.Node) int64 {
	i, _ := strconv.ParseInt(n.Raw(), 10, 64) // what is no count counts as none
	return max(i, 0)
}

// first is the first of the fields that is there: formats spell names in two ways.
func first(n *canon.Node, names ...string) *canon.Node {
	for _, name := range names {
		if f := n.Field(name); f.Kind() != canon.Null {
			return f
		}
	}
	return nil
}

func at(pointer string, part any) string { return fmt.Sprint(pointer, "/", part) }

// media describes data that is not to be printed.
func media(kind string, base64, address string) string {
	switch {
	case base64 != "":
		return fmt.Sprintf("%s, %d bytes", kind, len(base64)/4*3)
	case len(address) > 200:
		return fmt.Sprintf("%s, %s… (%d bytes)", kind, address[:40], len(address))
	}
	return kind + ", " + address
}
