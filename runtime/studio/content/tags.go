package content

import (
	"slices"
	"strings"
)

// retag is a list of tags after a whole new list, tags to add and tags to take away, in
// this order. Tags are equal in upper and lower case, and keep their own.
func retag(tags []string, whole *[]string, add, remove []string) []string {
	if whole != nil {
		tags = *whole
	}
	tags = slices.Clone(tags)
	for _, t := range add {
		if t != "" && !slices.ContainsFunc(tags, func(has string) bool { return strings.EqualFold(has, t) }) {
			tags = append(tags, t)
		}
	}
	return slices.DeleteFunc(tags, func(has string) bool {
		return slices.ContainsFunc(remove, func(t string) bool { return strings.EqualFold(has, t) })
	})
}

// assign sets a name in a table of texts; an empty text removes it.
func assign(table map[string]string, name, text string) map[string]string {
	if text == "" {
		delete(table, name)
		return table
	}
	if table == nil {
		table = map[string]string{}
	}
	table[name] = text
	return table
}
