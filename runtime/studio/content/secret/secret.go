// Package secret knows credentials in files of presets by the names of their keys, and
// takes them out of what is written.
//
// It is below the adapters of formats: no export carries a key. What came in stays in
// the escrow. It does not look into texts; harness/redact knows keys by their shape.
package secret

import (
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// sensitive are keys, in lower case, that are taken out though their names do not say it:
// addresses of somebody's proxy, and what is sent there.
var sensitive = []string{
	"reverse_proxy", "proxy_password", "custom_url", "custom_include_body", "custom_exclude_body", "custom_include_headers",
	"azure_base_url", "vertexai_express_project_id",
	"thirdpartykey", "thirdpartyurl", // of Agnai
}

// secretWords are parts of the name of a key that holds a credential; "token" is none of
// them alone, because presets count tokens.
var secretWords = []string{
	"password", "passwd", "passphrase", "secret", "credential", "authorization", "api_key", "apikey", "api-key",
	"access_token", "auth_token", "accesstoken", "authtoken", "bearer", "proxy_key", "private_key", "cookie",
}

func isSecret(key string) bool {
	key = strings.ToLower(key)
	if slices.Contains(sensitive, key) || key == "token" || key == "auth" || key == "jwt" {
		return true
	}
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(key, w) })
}

// Strip takes credentials out of the document, wherever they stand, and says where
// they stood. What is empty is none.
func Strip(doc *canon.Node) []string {
	var found []string
	var walk func(n *canon.Node, at []string)
	walk = func(n *canon.Node, at []string) {
		for name, v := range n.Members() {
			here := append(slices.Clone(at), name)
			if isSecret(name) && holds(v) {
				if ptr := canon.JoinPointer(here...); !slices.Contains(found, ptr) {
					found = append(found, ptr)
				}
				continue
			}
			walk(v, here)
		}
		for i, v := range n.Items() {
			walk(v, append(slices.Clone(at), strconv.Itoa(i)))
		}
	}
	walk(doc, nil)
	for _, ptr := range found {
		if _, err := doc.Delete(ptr); err != nil {
			panic(err) // found there
		}
	}
	return found
}

// holds reports a value that can be a secret: a text, or something that has one.
func holds(v *canon.Node) bool {
	switch v.Kind() {
	case canon.String:
		return v.Text() != ""
	case canon.Object, canon.Array:
		return v.Len() > 0
	}
	return false
}
