package model

import (
	"encoding/json"
	"slices"
	"strings"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
)

// A sealed is what a provider wants back with its reasoning, in our own encoding:
// signatures are bytes (Gemini's are not UTF-8, and the library's JSON would mend
// them), and ids that the wire made are left out.
type sealed struct {
	Provider  string   `json:"provider"` // which library part made it
	Signature []byte   `json:"signature,omitempty"`
	Redacted  []byte   `json:"redacted,omitempty"`
	Encrypted []byte   `json:"encrypted,omitempty"`
	Summary   []string `json:"summary,omitempty"`
}

// seal encodes m, or returns nil when there is nothing to give back.
func seal(m fantasy.ProviderMetadata) []byte {
	var list []sealed
	for _, v := range m {
		switch v := v.(type) {
		case *anthropic.ReasoningOptionMetadata:
			if v.Signature != "" || v.RedactedData != "" {
				list = append(list, sealed{Provider: anthropic.Name, Signature: []byte(v.Signature), Redacted: []byte(v.RedactedData)})
			}
		case *google.ReasoningMetadata:
			if v.Signature != "" {
				list = append(list, sealed{Provider: google.Name, Signature: []byte(v.Signature)})
			}
		case *openai.ResponsesReasoningMetadata:
			if v.EncryptedContent != nil && *v.EncryptedContent != "" {
				list = append(list, sealed{Provider: openai.Name, Encrypted: []byte(*v.EncryptedContent), Summary: slices.Clone(v.Summary)})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b sealed) int { return strings.Compare(a.Provider, b.Provider) })
	// Strings and bytes always encode.
	out, _ := json.Marshal(list)
	return out
}

// unseal is the reverse of seal. What another adapter wrote is not read.
func unseal(b []byte) fantasy.ProviderOptions {
	var list []sealed
	if len(b) == 0 || json.Unmarshal(b, &list) != nil {
		return nil
	}
	out := fantasy.ProviderOptions{}
	for _, s := range list {
		switch s.Provider {
		case anthropic.Name:
			out[anthropic.Name] = &anthropic.ReasoningOptionMetadata{Signature: string(s.Signature), RedactedData: string(s.Redacted)}
		case google.Name:
			out[google.Name] = &google.ReasoningMetadata{Signature: string(s.Signature)}
		case openai.Name:
			e := string(s.Encrypted)
			out[openai.Name] = &openai.ResponsesReasoningMetadata{EncryptedContent: &e, Summary: s.Summary}
		}
	}
	return out
}
